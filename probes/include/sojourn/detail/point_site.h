/*
 * The USDT engine's half of a point, in assembler: the test of its semaphore, the site, and the
 * notes about it. Not for use by itself: sojourn/point.h includes it. Why it is as it is:
 *
 * - Each asm statement is whole and its labels are numeric, so inlining, cloning, unrolling and
 *   templates may copy it: every copy is a site with notes of its own. Section flag "?" puts a note
 *   into its function's comdat group, so that both go or stay. The semaphore must outlive any
 *   group: `.probes` is in none, and a weak hidden symbol is one semaphore for all copies in a
 *   module.
 * - One name, one semaphore: bpftrace arms only the first semaphore of a name. So the note's name
 *   (D_rlc_tx_am__rlc_seg_am_L123) and the semaphore's symbol ("sj:D rlc.tx.am--rlc.seg.am:123")
 *   are made from the same words and line. perf takes only C identifiers, hence the rewriting.
 * - The block behind the test holds no call, else a leaf function pays a frame on its hot path.
 * - `asm inline`: gcc judges size by counting lines of assembler and would stop inlining functions.
 * - `volatile`: else the test is hoisted out of a loop, which then never notices a tracer.
 */
#ifndef SOJOURN_DETAIL_POINT_SITE_H
#define SOJOURN_DETAIL_POINT_SITE_H

#include <sojourn/detail/point_test.h>

/* One line of assembler a line. */
/* clang-format off */

/* ---- what differs between machines: how a note names memory, and an asm statement an address ---- */

#if defined(__x86_64__) && defined(__LP64__)
#define SJ_POINT_MEMORY_TEXT_(offset) #offset "(%[sj_values])"
#define SJ_POINT_ADDRESS_CONSTRAINT_ "i"
#define SJ_POINT_NO_RELOCATION_ "R_X86_64_NONE"
#elif defined(__aarch64__) && defined(__LP64__)
#define SJ_POINT_MEMORY_TEXT_(offset) "[%[sj_values], " #offset "]"
#define SJ_POINT_ADDRESS_CONSTRAINT_ "S"
#define SJ_POINT_NO_RELOCATION_ "R_AARCH64_NONE"
#else
#error "SJ_POINT knows x86-64 and arm64 (LP64) only: define SJ_DISABLE_POINTS for this target"
#endif

/* ---- what differs between assemblers: looking at the characters of a string ---- */

/* Both walk over a quoted string with .irpc. clang's includes the quotes and can compare characters
 * as numbers only, GNU's leaves them away and can compare them as strings only. */
#ifdef __clang__
#define SJ_POINT_IF_CHARACTER_(text, code, then) ".if '\\c' == " #code "\n" then ".endif\n"
#define SJ_POINT_EMIT_CHARACTER_ ".byte '\\c'\n"
#else
#define SJ_POINT_IF_CHARACTER_(text, code, then) ".ifeqs \"\\c\",\"" text "\"\n" then ".endif\n"
#define SJ_POINT_EMIT_CHARACTER_ ".ascii \"\\c\"\n"
#endif
#define SJ_POINT_EACH_CHARACTER_(words, then) ".irpc c,\"" words "\"\n" then ".endr\n"

/* The words as a C identifier. */
#define SJ_POINT_UNDERSCORE_ ".set .Lsj_plain, 0\n.byte 95\n"
#define SJ_POINT_NAME_(point)                                        \
  SJ_POINT_EACH_CHARACTER_(point,                                    \
    ".set .Lsj_plain, 1\n"                                           \
    SJ_POINT_IF_CHARACTER_(" ", 32, SJ_POINT_UNDERSCORE_)            \
    SJ_POINT_IF_CHARACTER_("-", 45, SJ_POINT_UNDERSCORE_)            \
    SJ_POINT_IF_CHARACTER_(".", 46, SJ_POINT_UNDERSCORE_)            \
    SJ_POINT_IF_CHARACTER_("\\\"", 34, ".set .Lsj_plain, 0\n")       \
    ".if .Lsj_plain\n" SJ_POINT_EMIT_CHARACTER_ ".endif\n")

/* C has no constant expression that looks into a string, so the assembler checks what it can. */
#define SJ_POINT_CHECK_IN_ASSEMBLER_sj_printf(point, fields, count) (void)0
#ifdef __cplusplus
#define SJ_POINT_CHECK_IN_ASSEMBLER_sj_plain(point, fields, count) (void)0
#else
#define SJ_POINT_IF_DIRECTION_(text, code)                                                   \
  SJ_POINT_IF_CHARACTER_(text, code, ".if .Lsj_at == 0\n.set .Lsj_directions, 1\n.endif\n")
#define SJ_POINT_BETWEEN_NAMES_ ".set .Lsj_inside, 0\n.set .Lsj_begins, 0\n"
#define SJ_POINT_CHECK_IN_ASSEMBLER_sj_plain(point, fields, count)                           \
  __asm__ __inline__ __volatile__(                                                           \
  ".set .Lsj_at, 0\n.set .Lsj_directions, 0\n.set .Lsj_spaces, 0\n.set .Lsj_dashes, 0\n"     \
  SJ_POINT_EACH_CHARACTER_(point,                                                            \
    SJ_POINT_IF_DIRECTION_("D", 68)                                                          \
    SJ_POINT_IF_DIRECTION_("U", 85)                                                          \
    SJ_POINT_IF_DIRECTION_("I", 73)                                                          \
    SJ_POINT_IF_DIRECTION_("S", 83)                                                          \
    SJ_POINT_IF_CHARACTER_(" ", 32, ".set .Lsj_spaces, .Lsj_spaces + 1\n")                   \
    SJ_POINT_IF_CHARACTER_("-", 45, ".set .Lsj_dashes, .Lsj_dashes + 1\n")                   \
    SJ_POINT_IF_CHARACTER_("\\\"", 34, ".set .Lsj_at, .Lsj_at - 1\n")                        \
    ".set .Lsj_at, .Lsj_at + 1\n")                                                           \
  ".if .Lsj_directions != 1 || .Lsj_spaces != 1 || .Lsj_dashes != 2\n"                       \
  ".error \"point '" point "' does not read 'D source--destination', with D, U, I or S\"\n"  \
  ".endif\n"                                                                                 \
  ".set .Lsj_colons, 0\n.set .Lsj_names, 0\n.set .Lsj_inside, 0\n"                           \
  SJ_POINT_EACH_CHARACTER_(fields,                                                           \
    ".set .Lsj_begins, 1 - .Lsj_inside\n"                                                    \
    ".set .Lsj_inside, 1\n"                                                                  \
    SJ_POINT_IF_CHARACTER_("\\\"", 34, SJ_POINT_BETWEEN_NAMES_)                              \
    SJ_POINT_IF_CHARACTER_(".", 46, SJ_POINT_BETWEEN_NAMES_)                                 \
    SJ_POINT_IF_CHARACTER_(":", 58,                                                          \
      SJ_POINT_BETWEEN_NAMES_ ".set .Lsj_colons, .Lsj_colons + 1\n")                         \
    ".set .Lsj_names, .Lsj_names + .Lsj_begins\n")                                           \
  ".if .Lsj_colons != 2\n"                                                                   \
  ".error \"fields '" fields "' of point '" point "' are not properties:globals:locals\"\n"  \
  ".endif\n"                                                                                 \
  ".if .Lsj_names != " #count "\n"                                                           \
  ".error \"point '" point "' has " #count " arguments for the fields '" fields "'\"\n"      \
  ".endif\n" : : )
#endif

/* ---- operands: sizes are constants; values are in registers or constants, never in memory ---- */

/* Up to eight arguments are in registers. With more of them six are in registers, and the others in
 * an array that a seventh points to: from nine on clang 14 saves registers on entry. */
#define SJ_POINT_SIZE_OPERAND_(index, value) [sj_size##index] "n"(SJ_POINT_SIZE_(value))
#define SJ_POINT_VALUE_OPERAND_(index) [sj_value##index] "nr"(sj_point_value[index])
#define SJ_POINT_ELEMENT_(index, value) SJ_POINT_WIDEN_(value)

#define SJ_POINT_VALUES_1 SJ_POINT_VALUE_OPERAND_(0)
#define SJ_POINT_VALUES_2 SJ_POINT_VALUES_1, SJ_POINT_VALUE_OPERAND_(1)
#define SJ_POINT_VALUES_3 SJ_POINT_VALUES_2, SJ_POINT_VALUE_OPERAND_(2)
#define SJ_POINT_VALUES_4 SJ_POINT_VALUES_3, SJ_POINT_VALUE_OPERAND_(3)
#define SJ_POINT_VALUES_5 SJ_POINT_VALUES_4, SJ_POINT_VALUE_OPERAND_(4)
#define SJ_POINT_VALUES_6 SJ_POINT_VALUES_5, SJ_POINT_VALUE_OPERAND_(5)
#define SJ_POINT_VALUES_7 SJ_POINT_VALUES_6, SJ_POINT_VALUE_OPERAND_(6)
#define SJ_POINT_VALUES_8 SJ_POINT_VALUES_7, SJ_POINT_VALUE_OPERAND_(7)
#define SJ_POINT_VALUES_AND_ARRAY_ \
  SJ_POINT_VALUES_6, [sj_values] "r"(sj_point_value), "m"(sj_point_value)
#define SJ_POINT_VALUES_9 SJ_POINT_VALUES_AND_ARRAY_
#define SJ_POINT_VALUES_10 SJ_POINT_VALUES_AND_ARRAY_
#define SJ_POINT_VALUES_11 SJ_POINT_VALUES_AND_ARRAY_
#define SJ_POINT_VALUES_12 SJ_POINT_VALUES_AND_ARRAY_
#define SJ_POINT_VALUES_13 SJ_POINT_VALUES_AND_ARRAY_
#define SJ_POINT_VALUES_14 SJ_POINT_VALUES_AND_ARRAY_
#define SJ_POINT_VALUES_15 SJ_POINT_VALUES_AND_ARRAY_
#define SJ_POINT_VALUES_16 SJ_POINT_VALUES_AND_ARRAY_

#define SJ_POINT_REGISTER_TEXT_(index) "%c[sj_size" #index "]@%[sj_value" #index "]"
#define SJ_POINT_ARRAY_TEXT_(index, offset) \
  " %c[sj_size" #index "]@" SJ_POINT_MEMORY_TEXT_(offset)

#define SJ_POINT_TEXT_0 ""
#define SJ_POINT_TEXT_1 SJ_POINT_REGISTER_TEXT_(0)
#define SJ_POINT_TEXT_2 SJ_POINT_TEXT_1 " " SJ_POINT_REGISTER_TEXT_(1)
#define SJ_POINT_TEXT_3 SJ_POINT_TEXT_2 " " SJ_POINT_REGISTER_TEXT_(2)
#define SJ_POINT_TEXT_4 SJ_POINT_TEXT_3 " " SJ_POINT_REGISTER_TEXT_(3)
#define SJ_POINT_TEXT_5 SJ_POINT_TEXT_4 " " SJ_POINT_REGISTER_TEXT_(4)
#define SJ_POINT_TEXT_6 SJ_POINT_TEXT_5 " " SJ_POINT_REGISTER_TEXT_(5)
#define SJ_POINT_TEXT_7 SJ_POINT_TEXT_6 " " SJ_POINT_REGISTER_TEXT_(6)
#define SJ_POINT_TEXT_8 SJ_POINT_TEXT_7 " " SJ_POINT_REGISTER_TEXT_(7)
#define SJ_POINT_TEXT_9 \
  SJ_POINT_TEXT_6       \
  SJ_POINT_ARRAY_TEXT_(6, 48) SJ_POINT_ARRAY_TEXT_(7, 56) SJ_POINT_ARRAY_TEXT_(8, 64)
#define SJ_POINT_TEXT_10 SJ_POINT_TEXT_9 SJ_POINT_ARRAY_TEXT_(9, 72)
#define SJ_POINT_TEXT_11 SJ_POINT_TEXT_10 SJ_POINT_ARRAY_TEXT_(10, 80)
#define SJ_POINT_TEXT_12 SJ_POINT_TEXT_11 SJ_POINT_ARRAY_TEXT_(11, 88)
#define SJ_POINT_TEXT_13 SJ_POINT_TEXT_12 SJ_POINT_ARRAY_TEXT_(12, 96)
#define SJ_POINT_TEXT_14 SJ_POINT_TEXT_13 SJ_POINT_ARRAY_TEXT_(13, 104)
#define SJ_POINT_TEXT_15 SJ_POINT_TEXT_14 SJ_POINT_ARRAY_TEXT_(14, 112)
#define SJ_POINT_TEXT_16 SJ_POINT_TEXT_15 SJ_POINT_ARRAY_TEXT_(15, 120)

/* ---- the sections ---- */

/* As SystemTap defines a USDT note. The base tells a reader that the file was prelinked. */
#define SJ_POINT_USDT_NOTE_(point, count)                                       \
  ".pushsection .note.stapsdt, \"?\", %%note\n"                                 \
  ".balign 4\n"                                                                 \
  ".4byte 992f - 991f, 994f - 993f, 3\n"                                        \
  "991: .asciz \"stapsdt\"\n"                                                   \
  "992: .balign 4\n"                                                            \
  "993: .8byte 990b, _.stapsdt.base, " SJ_POINT_SEMAPHORE_(point) "\n"          \
  ".asciz \"sojourn\"\n"                                                        \
  SJ_POINT_NAME_(point) ".asciz \"_L" SJ_POINT_LINE_ "\"\n"                     \
  ".asciz \"" SJ_POINT_TEXT_##count "\"\n"                                      \
  "994: .balign 4\n"                                                            \
  ".popsection\n"                                                               \
  ".ifndef _.stapsdt.base\n"                                                    \
  ".pushsection .stapsdt.base, \"aG\", %%progbits, .stapsdt.base, comdat\n"     \
  ".weak _.stapsdt.base\n"                                                      \
  ".hidden _.stapsdt.base\n"                                                    \
  "_.stapsdt.base: .space 1\n"                                                  \
  ".size _.stapsdt.base, 1\n"                                                   \
  ".popsection\n"                                                               \
  ".endif\n"

/* Words with a '%' come by operand. Linkers that drop unused sections do not look into notes: a
 * relocation that does nothing ties the words to the site. */
#define SJ_POINT_FIELDS_TEXT_sj_plain(fields) ".asciz \"" fields "\"\n"
#define SJ_POINT_FIELDS_ADDRESS_sj_plain "0"
#define SJ_POINT_KEEP_FIELDS_sj_plain(site) ""
#define SJ_POINT_FIELDS_OPERAND_sj_plain(fields)
#define SJ_POINT_FIELDS_TEXT_sj_printf(fields) ".asciz \"\"\n"
#define SJ_POINT_FIELDS_ADDRESS_sj_printf "%c[sj_fields]"
#define SJ_POINT_KEEP_FIELDS_sj_printf(site) \
  ".reloc " site ", " SJ_POINT_NO_RELOCATION_ ", %c[sj_fields]\n"
#define SJ_POINT_FIELDS_OPERAND_sj_printf(fields) [sj_fields] SJ_POINT_ADDRESS_CONSTRAINT_(fields),

/* A note of sojourn/note_abi.h, up to its numbers, and the strings behind them. */
#define SJ_POINT_BEGIN_NOTE_(type, count)          \
  ".pushsection .note.sojourn, \"?\", %%note\n"    \
  ".balign 4\n"                                    \
  ".4byte 992f - 991f, 994f - 993f, " #type "\n"   \
  "991: .asciz \"sojourn\"\n"                      \
  "992: .balign 4\n"                               \
  "993: .2byte 2, " #count "\n"                    \
  ".4byte " SJ_POINT_LINE_ "\n"
#define SJ_POINT_END_NOTE_(form, point, fields)    \
  ".asciz \"" point "\"\n"                         \
  SJ_POINT_FIELDS_TEXT_##form(fields)              \
  ".asciz \"" SJ_SOURCE_FILE "\"\n"                \
  "994: .balign 4\n"                               \
  ".popsection\n"

#define SJ_POINT_OWN_NOTE_(form, point, fields, count)      \
  SJ_POINT_BEGIN_NOTE_(1, count)                            \
  ".8byte 990b, " SJ_POINT_FIELDS_ADDRESS_##form "\n"       \
  SJ_POINT_END_NOTE_(form, point, fields)                   \
  SJ_POINT_KEEP_FIELDS_##form("990b")

/* ---- the statement ---- */

/* A point that is switched off for all engines is passed by. */
#ifndef SJ_HAS_RINGS_
#define SJ_POINT_UNLESS_OFF_(point) ""
#elif defined(__x86_64__)
#define SJ_POINT_UNLESS_OFF_(point)                                           \
  "testb $2, " SJ_POINT_FLAG_(point) "(%%rip)\n"                              \
  "jnz 995f\n"
#else
#define SJ_POINT_UNLESS_OFF_(point)                                           \
  "adrp x16, " SJ_POINT_FLAG_(point) "\n"                                     \
  "ldrh w16, [x16, :lo12:" SJ_POINT_FLAG_(point) "]\n"                        \
  "tbnz w16, #1, 995f\n"
#endif
#if defined(SJ_HAS_RINGS_) && defined(__aarch64__)
#define SJ_POINT_SITE_CLOBBERS_ : "x16"
#elif defined(SJ_HAS_RINGS_)
#define SJ_POINT_SITE_CLOBBERS_ : "cc"
#else
#define SJ_POINT_SITE_CLOBBERS_
#endif

#define SJ_POINT_SITE_(form, point, fields, count, ...)                       \
  __asm__ __inline__ __volatile__(                                            \
      SJ_POINT_UNLESS_OFF_(point)                                             \
      "990: nop\n"                                                            \
      "995:\n"                                                                \
      SJ_POINT_USDT_NOTE_(point, count)                                       \
      SJ_POINT_OWN_NOTE_(form, point, fields, count)                          \
      :                                                                       \
      : SJ_POINT_FIELDS_OPERAND_##form(fields) __VA_ARGS__ SJ_POINT_SITE_CLOBBERS_)

/* clang-format on */

#endif
