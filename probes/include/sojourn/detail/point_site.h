/*
 * The machine's half of a point: the test of its semaphore, the site, and the notes about it. Not
 * for use by itself: sojourn/point.h includes it. What shapes it:
 *
 * - Each asm statement is whole: its labels are numeric, so inlining, cloning, unrolling and
 * templates may copy it. Every copy is a site with notes of its own. Section flag "?" keeps a note
 * with its function's comdat group, so both go or stay. The semaphore must outlive any group:
 * `.probes` is outside of them, and a weak hidden symbol is one semaphore for all copies in an
 * executable or library.
 * - One name, one semaphore: bpftrace arms only the first semaphore of a name. So the name in the
 * note (D_rlc_tx_am__rlc_seg_am_L123) and the semaphore's symbol ("sj:D rlc.tx.am--rlc.seg.am:123")
 * are made from the same words and line. perf accepts only C identifiers, therefore the assembler
 * rewrites the words.
 * - The block behind the test contains no call, else a leaf function pays a frame on its hot path.
 * - `asm inline`: gcc counts lines of assembler to judge size and would stop inlining instrumented
 * functions.
 * - `volatile`, or the test is hoisted out of a loop and an attached tracer never noticed.
 * - A second engine adds its own load to SJ_POINT_TEST_ (OR-ed: still one branch) and its own
 * statement beside SJ_POINT_SITE_. Formats with '%' cannot be in a template: they go by operand
 * then.
 */
#ifndef SOJOURN_DETAIL_POINT_SITE_H
#define SOJOURN_DETAIL_POINT_SITE_H

#define SJ_POINT_STRING_(x) SJ_POINT_STRING_EXPANDED_(x)
#define SJ_POINT_STRING_EXPANDED_(x) #x
#define SJ_POINT_LINE_ SJ_POINT_STRING_(__LINE__)
#define SJ_POINT_SEMAPHORE_(point) "\"sj:" point ":" SJ_POINT_LINE_ "\""

/* ---- what differs between machines: the test, and how a note names an operand ---- */

#if defined(__x86_64__) && defined(__LP64__)
/* cmpw + jne; %= no register is needed, and the compiler may use the flag directly. */
#define SJ_POINT_TEST_(point) "cmpw $0, " SJ_POINT_SEMAPHORE_(point) "(%%rip)\n"
#define SJ_POINT_TEST_OUTPUT_(flag) "=@ccne"(flag)
#define SJ_POINT_TEST_CLOBBERS_
#define SJ_POINT_MEMORY_TEXT_(offset) #offset "(%[sj_rest])"
#elif defined(__aarch64__) && defined(__LP64__)
#define SJ_POINT_TEST_(point)                 \
  "adrp %0, " SJ_POINT_SEMAPHORE_(point) "\n" \
                                         "ldrh %w0, [%0, :lo12:" SJ_POINT_SEMAPHORE_(point) "]\n"
#define SJ_POINT_TEST_OUTPUT_(flag) "=r"(flag)
#define SJ_POINT_MEMORY_TEXT_(offset) "[%[sj_rest], " #offset "]"
#else
#error "SJ_POINT knows x86-64 and arm64 (LP64) only: define SJ_DISABLE_POINTS for this target"
#endif

/* ---- what differs between assemblers: looking at the characters of a string ---- */

/* .irpc walks over a quoted string in both, but clang's includes the quotes (34) and compares
 * numbers, GNU's leaves them away and compares strings. Both forms emit the words with '_' for
 * space, '-' and '.'. */
#ifdef __clang__
#define SJ_POINT_NAME_(point)                           \
  ".irpc c,\"" point "\"\n"                             \
  ".if '\\c' == 34\n"                                   \
  ".elseif '\\c' == 32 || '\\c' == 45 || '\\c' == 46\n" \
  ".byte 95\n"                                          \
  ".else\n"                                             \
  ".byte '\\c'\n"                                       \
  ".endif\n"                                            \
  ".endr\n"
#define SJ_POINT_COUNT_NAMES_(fields)               \
  ".set .Lsj_names, 0\n"                            \
  ".set .Lsj_inside, 0\n"                           \
  ".irpc c,\"" fields "\"\n"                        \
  ".if '\\c' == 34\n"                               \
  ".elseif '\\c' == 46 || '\\c' == 58\n"            \
  ".set .Lsj_inside, 0\n"                           \
  ".else\n"                                         \
  ".set .Lsj_names, .Lsj_names + 1 - .Lsj_inside\n" \
  ".set .Lsj_inside, 1\n"                           \
  ".endif\n"                                        \
  ".endr\n"
#else
#define SJ_POINT_NAME_(point) \
  ".irpc c,\"" point "\"\n"   \
  ".ifeqs \"\\c\",\" \"\n"    \
  ".byte 95\n"                \
  ".else\n"                   \
  ".ifeqs \"\\c\",\"-\"\n"    \
  ".byte 95\n"                \
  ".else\n"                   \
  ".ifeqs \"\\c\",\".\"\n"    \
  ".byte 95\n"                \
  ".else\n"                   \
  ".ascii \"\\c\"\n"          \
  ".endif\n.endif\n.endif\n"  \
  ".endr\n"
#define SJ_POINT_COUNT_NAMES_(fields)               \
  ".set .Lsj_names, 0\n"                            \
  ".set .Lsj_inside, 0\n"                           \
  ".irpc c,\"" fields "\"\n"                        \
  ".ifeqs \"\\c\",\".\"\n"                          \
  ".set .Lsj_inside, 0\n"                           \
  ".else\n"                                         \
  ".ifeqs \"\\c\",\":\"\n"                          \
  ".set .Lsj_inside, 0\n"                           \
  ".else\n"                                         \
  ".set .Lsj_names, .Lsj_names + 1 - .Lsj_inside\n" \
  ".set .Lsj_inside, 1\n"                           \
  ".endif\n.endif\n"                                \
  ".endr\n"
#endif

/* C has no constant expression that looks into a string, so its assembler does. */
#ifdef __cplusplus
#define SJ_POINT_ASSEMBLER_CHECK_(point, fields, count)
#else
#define SJ_POINT_ASSEMBLER_CHECK_(point, fields, count)                                \
  SJ_POINT_COUNT_NAMES_(fields)                                                        \
  ".if .Lsj_names - " #count "\n"                                                      \
  ".error \"point '" point "' has " #count " arguments for the names '" fields "'\"\n" \
  ".endif\n"
#endif

/* ---- operands: sizes are constants, values registers or constants, never memory ---- */

#define SJ_POINT_REGISTER_OPERAND_(index, value) \
  [sj_size##index] "n"(SJ_POINT_SIZE_(value)), [sj_value##index] "nr"(SJ_POINT_WIDEN_(value))
#define SJ_POINT_MEMORY_OPERAND_(index, value) [sj_rest_size##index] "n"(SJ_POINT_SIZE_(value))
#define SJ_POINT_ELEMENT_(index, value) SJ_POINT_WIDEN_(value)

#define SJ_POINT_REGISTER_TEXT_(index) "%c[sj_size" #index "]@%[sj_value" #index "]"
#define SJ_POINT_REST_TEXT_(index, offset) \
  " %c[sj_rest_size" #index "]@" SJ_POINT_MEMORY_TEXT_(offset)

#define SJ_POINT_TEXT_0 ""
#define SJ_POINT_TEXT_1 SJ_POINT_REGISTER_TEXT_(0)
#define SJ_POINT_TEXT_2 SJ_POINT_TEXT_1 " " SJ_POINT_REGISTER_TEXT_(1)
#define SJ_POINT_TEXT_3 SJ_POINT_TEXT_2 " " SJ_POINT_REGISTER_TEXT_(2)
#define SJ_POINT_TEXT_4 SJ_POINT_TEXT_3 " " SJ_POINT_REGISTER_TEXT_(3)
#define SJ_POINT_TEXT_5 SJ_POINT_TEXT_4 " " SJ_POINT_REGISTER_TEXT_(4)
#define SJ_POINT_TEXT_6 SJ_POINT_TEXT_5 " " SJ_POINT_REGISTER_TEXT_(5)
#define SJ_POINT_TEXT_7 SJ_POINT_TEXT_6 " " SJ_POINT_REGISTER_TEXT_(6)
#define SJ_POINT_TEXT_8 SJ_POINT_TEXT_7 " " SJ_POINT_REGISTER_TEXT_(7)
#define SJ_POINT_TEXT_9 SJ_POINT_TEXT_8 SJ_POINT_REST_TEXT_(0, 0)
#define SJ_POINT_TEXT_10 SJ_POINT_TEXT_9 SJ_POINT_REST_TEXT_(1, 8)
#define SJ_POINT_TEXT_11 SJ_POINT_TEXT_10 SJ_POINT_REST_TEXT_(2, 16)
#define SJ_POINT_TEXT_12 SJ_POINT_TEXT_11 SJ_POINT_REST_TEXT_(3, 24)
#define SJ_POINT_TEXT_13 SJ_POINT_TEXT_12 SJ_POINT_REST_TEXT_(4, 32)
#define SJ_POINT_TEXT_14 SJ_POINT_TEXT_13 SJ_POINT_REST_TEXT_(5, 40)
#define SJ_POINT_TEXT_15 SJ_POINT_TEXT_14 SJ_POINT_REST_TEXT_(6, 48)
#define SJ_POINT_TEXT_16 SJ_POINT_TEXT_15 SJ_POINT_REST_TEXT_(7, 56)

/* ---- the statements ---- */

#define SJ_POINT_DEFINE_SEMAPHORE_(point)                                               \
  ".ifndef " SJ_POINT_SEMAPHORE_(                                                       \
      point) "\n"                                                                       \
             ".pushsection .probes, \"aw\", %%progbits\n"                               \
             ".balign 2\n" /* the kernel refuses an odd address */                      \
             ".weak " SJ_POINT_SEMAPHORE_(                                              \
                 point) "\n"                                                            \
                        ".hidden " SJ_POINT_SEMAPHORE_(point) "\n" SJ_POINT_SEMAPHORE_( \
                            point) ":\n"                                                \
                                   ".zero 2\n"                                          \
                                   ".popsection\n"                                      \
                                   ".endif\n"

/* The USDT note as SystemTap defines it, except for the site being a label of ours. */
#define SJ_POINT_USDT_NOTE_(point, count)                                                     \
  ".pushsection .note.stapsdt, \"?\", %%note\n"                                               \
  ".balign 4\n"                                                                               \
  ".4byte 992f - 991f, 994f - 993f, 3\n"                                                      \
  "991: .asciz \"stapsdt\"\n"                                                                 \
  "992: .balign 4\n"                                                                          \
  "993: .8byte 990b, _.stapsdt.base, " SJ_POINT_SEMAPHORE_(                                   \
      point) "\n"                                                                             \
             ".asciz \"sojourn\"\n" SJ_POINT_NAME_(point) ".asciz \"_L" SJ_POINT_LINE_ "\"\n" \
                                                          ".asciz \"" SJ_POINT_TEXT_##count   \
      "\"\n"                                                                                  \
      "994: .balign 4\n"                                                                      \
      ".popsection\n"                                                                         \
      ".ifndef _.stapsdt.base\n"                                                              \
      ".pushsection .stapsdt.base, \"aG\", %%progbits, .stapsdt.base, comdat\n"               \
      ".weak _.stapsdt.base\n"                                                                \
      ".hidden _.stapsdt.base\n"                                                              \
      "_.stapsdt.base: .space 1\n"                                                            \
      ".size _.stapsdt.base, 1\n"                                                             \
      ".popsection\n"                                                                         \
      ".endif\n"

/* struct sj_note_point of sojourn/note_abi.h, then the strings. */
#define SJ_POINT_OWN_NOTE_(point, fields, count) \
  ".pushsection .note.sojourn, \"?\", %%note\n"  \
  ".balign 4\n"                                  \
  ".4byte 992f - 991f, 994f - 993f, 1\n"         \
  "991: .asciz \"sojourn\"\n"                    \
  "992: .balign 4\n"                             \
  "993: .2byte 1, " #count "\n"                  \
  ".4byte " SJ_POINT_LINE_ "\n"                  \
  ".8byte 990b\n"                                \
  ".asciz \"" point "\"\n"                       \
  ".asciz \"" fields "\"\n"                      \
  ".asciz \"" SJ_SOURCE_FILE "\"\n"              \
  "994: .balign 4\n"                             \
  ".popsection\n"

/* Opens the statement or block that follows to whoever is attached. */
#define SJ_POINT_IF_ARMED_(point, fields, count)                                          \
  SJ_POINT_CHECK_WORDS_(point, fields, count);                                            \
  long long sj_point_armed;                                                               \
  __asm__ __inline__ __volatile__(SJ_POINT_DEFINE_SEMAPHORE_(point) SJ_POINT_TEST_(point) \
                                  : SJ_POINT_TEST_OUTPUT_(sj_point_armed));               \
  if (__builtin_expect(sj_point_armed != 0, 0))

#define SJ_POINT_SITE_(point, fields, count, ...)                                         \
  __asm__ __inline__ __volatile__("990: nop\n" SJ_POINT_USDT_NOTE_(point, count)          \
                                      SJ_POINT_OWN_NOTE_(point, fields, count)            \
                                          SJ_POINT_ASSEMBLER_CHECK_(point, fields, count) \
                                  :                                                       \
                                  : __VA_ARGS__)

#endif
