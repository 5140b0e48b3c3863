/*
 * The note of a point in an ELF file, for readers of that file (tracers, tests). Section
 * .note.sojourn, not loaded, one note a site and engine. Standard note header; name "sojourn"; type
 * and descriptor:
 *
 *   SJ_NOTE_POINT  struct sj_note_point  beside the site's USDT note, which has the operands: its
 *                                        first address equals `site`
 *   SJ_NOTE_RING   struct sj_note_ring   the same point as it appears in rings (ring_abi.h)
 *
 * Then three strings, each ending in NUL:
 *   point words   D rlc.tx.am--rlc.seg.am
 *   field words   len:rnti:drb.psn.rsn.so   (properties:globals:locals, names separated by dots;
 *                 LatSeq's conversions may be in it, "len%d"); empty where `fields_address` leads
 *                 to them
 *   source file   segment.c
 *
 * Addresses are as the ELF file counts them (before the load bias). Several sites may share words,
 * line, semaphore and flag (inlining). A linker that drops a function leaves its notes behind with
 * a site near 0: not a point. Numbers are in the target's byte order. Never changes within a
 * version.
 */
#ifndef SOJOURN_NOTE_ABI_H
#define SOJOURN_NOTE_ABI_H

#include <stdint.h>

#define SJ_NOTE_SECTION ".note.sojourn"
#define SJ_NOTE_NAME "sojourn"
#define SJ_NOTE_POINT 1
#define SJ_NOTE_RING 2
#define SJ_NOTE_VERSION 2 /* 1 had no fields_address */

/* The most arguments that SJ_POINT takes. */
#define SJ_POINT_MAX_ARGUMENTS 16

/* In the file these are only aligned to 4: copy them out, never cast. */
struct sj_note_point {
  uint16_t version;   /* SJ_NOTE_VERSION; a reader refuses what it does not know */
  uint16_t arguments; /* 0..SJ_POINT_MAX_ARGUMENTS, equals the number of names in the field words */
  uint32_t line;      /* in the source file */
  uint64_t site;      /* address of the one-byte nop (x86-64) or the nop (arm64) */
  uint64_t fields_address; /* of the field words in loaded data; 0: they follow in the note */
};

struct sj_note_ring {
  uint16_t version;
  uint16_t arguments;
  uint32_t line;
  uint64_t id;             /* a code address; its low half at run time is the records' id */
  uint64_t fields_address; /* as above */
  uint64_t flag;           /* address of the point's uint16_t in section sj_flags */
  int8_t size[SJ_POINT_MAX_ARGUMENTS]; /* bytes of each value in a record; negative: signed */
};

#ifdef __cplusplus
static_assert(sizeof(struct sj_note_point) == 24, "a contract with every binary already built");
static_assert(sizeof(struct sj_note_ring) == 48, "a contract with every binary already built");
#else
_Static_assert(sizeof(struct sj_note_point) == 24, "a contract with every binary already built");
_Static_assert(sizeof(struct sj_note_ring) == 48, "a contract with every binary already built");
#endif

#endif
