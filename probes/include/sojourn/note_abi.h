/*
 * What SJ_POINT leaves in an ELF file beside its USDT note, for readers of that file (tracers,
 * tests). Section .note.sojourn, not loaded, one note a site. Standard note header; name "sojourn",
 * type SJ_NOTE_POINT; the descriptor is struct sj_note_point, then three strings, each ending in
 * NUL: point words   D rlc.tx.am--rlc.seg.am field words   len:rnti:drb.psn.rsn.so
 * (properties:globals:locals, names separated by dots) source file   segment.c The site is an
 * address as the ELF file counts them (before the load bias). It equals the first address of
 * exactly one .note.stapsdt note, which has the operands; several sites may share words, line and
 * semaphore (inlining). A linker that drops a function leaves its notes behind with a site near 0:
 * not a point. Fields are in the target's byte order. C11 and C++, no dependencies; never changes
 * within a version.
 */
#ifndef SOJOURN_NOTE_ABI_H
#define SOJOURN_NOTE_ABI_H

#include <stdint.h>

#define SJ_NOTE_SECTION ".note.sojourn"
#define SJ_NOTE_NAME "sojourn"
#define SJ_NOTE_POINT 1
#define SJ_NOTE_VERSION 1

/* The most arguments that SJ_POINT takes. */
#define SJ_POINT_MAX_ARGUMENTS 16

/* In the file this is only aligned to 4: copy it out, never cast. */
struct sj_note_point {
  uint16_t version;   /* SJ_NOTE_VERSION; a reader refuses what it does not know */
  uint16_t arguments; /* 0..SJ_POINT_MAX_ARGUMENTS, equals the number of names in the field words */
  uint32_t line;      /* in the source file */
  uint64_t site;      /* address of the one-byte nop (x86-64) or the nop (arm64) */
};

#ifdef __cplusplus
static_assert(sizeof(struct sj_note_point) == 16, "a contract with every binary already built");
#else
_Static_assert(sizeof(struct sj_note_point) == 16, "a contract with every binary already built");
#endif

#endif
