/*
 * The test in front of a point: two flags, one for each engine, OR-ed, and one branch. Not for use
 * by itself: sojourn/point.h includes it.
 *
 * - The USDT engine's flag is the semaphore that its note names; the kernel counts in it.
 * - The ring engine's flag is in section sj_flags, over which the runtime maps shared memory when
 *   the module is loaded. So the section's part of each object has whole pages (the end of the last
 *   subsection is aligned like the beginning of the first) and takes no space in the file.
 * - Both are named after the point's words and line, so that all copies of a point in an object
 *   share them.
 */
#ifndef SOJOURN_DETAIL_POINT_TEST_H
#define SOJOURN_DETAIL_POINT_TEST_H

#define SJ_POINT_STRING_(x) SJ_POINT_STRING_EXPANDED_(x)
#define SJ_POINT_STRING_EXPANDED_(x) #x
#define SJ_POINT_LINE_ SJ_POINT_STRING_(__LINE__)
#define SJ_POINT_SEMAPHORE_(point) "\"sj:" point ":" SJ_POINT_LINE_ "\""
#define SJ_POINT_FLAG_(point) "\"sjf:" point ":" SJ_POINT_LINE_ "\""

/* One line of assembler a line. */
/* clang-format off */

/* The kernel refuses to count in a semaphore that is not aligned. */
#define SJ_POINT_DEFINE_SEMAPHORE_(point)                \
  ".ifndef " SJ_POINT_SEMAPHORE_(point) "\n"             \
  ".pushsection .probes, \"aw\", %%progbits\n"           \
  ".balign 2\n"                                          \
  ".weak " SJ_POINT_SEMAPHORE_(point) "\n"               \
  ".hidden " SJ_POINT_SEMAPHORE_(point) "\n"             \
  SJ_POINT_SEMAPHORE_(point) ": .zero 2\n"               \
  ".popsection\n"                                        \
  ".endif\n"

#if defined(__aarch64__)
#define SJ_POINT_FLAGS_PAGE_ "65536"
#else
#define SJ_POINT_FLAGS_PAGE_ "4096"
#endif

#define SJ_POINT_DEFINE_FLAG_(point)                               \
  ".ifndef " SJ_POINT_FLAG_(point) "\n"                            \
  ".ifndef .Lsj_flags\n"                                           \
  ".pushsection sj_flags, 1, \"aw\", %%nobits\n"                   \
  ".balign " SJ_POINT_FLAGS_PAGE_ "\n"                             \
  ".popsection\n"                                                  \
  ".pushsection sj_flags, 0, \"aw\", %%nobits\n"                   \
  ".balign " SJ_POINT_FLAGS_PAGE_ "\n"                             \
  ".Lsj_flags:\n"                                                  \
  ".popsection\n"                                                  \
  ".endif\n"                                                       \
  ".pushsection sj_flags, 0, \"aw\", %%nobits\n"                   \
  SJ_POINT_FLAG_(point) ": .zero 2\n"                              \
  ".popsection\n"                                                  \
  ".endif\n"

/* ---- the test; `armed` is a register on arm64, the processor's condition on x86-64 ---- */

#if defined(__x86_64__)
#define SJ_POINT_TEST_ONE_(symbol) "cmpw $0, " symbol "(%%rip)\n"
#define SJ_POINT_TEST_ONE_OUTPUT_ "=@ccne"(sj_point_armed)
#define SJ_POINT_TEST_TWO_(one, other)          \
  "movzwl " one "(%%rip), %k[sj_both]\n"        \
  "orw " other "(%%rip), %w[sj_both]\n"
#define SJ_POINT_TEST_TWO_OUTPUT_ "=@ccne"(sj_point_armed), [sj_both] "=&r"(sj_point_both)
#else
#define SJ_POINT_LOAD_(symbol, to)              \
  "adrp %" to ", " symbol "\n"                  \
  "ldrh %w" to ", [%" to ", :lo12:" symbol "]\n"
#define SJ_POINT_TEST_ONE_(symbol) SJ_POINT_LOAD_(symbol, "[sj_armed]")
#define SJ_POINT_TEST_ONE_OUTPUT_ [sj_armed] "=r"(sj_point_armed)
#define SJ_POINT_TEST_TWO_(one, other)          \
  SJ_POINT_LOAD_(one, "[sj_armed]")             \
  SJ_POINT_LOAD_(other, "[sj_both]")            \
  "orr %w[sj_armed], %w[sj_armed], %w[sj_both]\n"
#define SJ_POINT_TEST_TWO_OUTPUT_ [sj_armed] "=&r"(sj_point_armed), [sj_both] "=&r"(sj_point_both)
#endif

#if defined(SJ_HAS_USDT_) && defined(SJ_HAS_RINGS_)
#define SJ_POINT_TEST_VARIABLES_ long long sj_point_armed, sj_point_both
#define SJ_POINT_TEST_(point)                                                 \
  __asm__ __inline__ __volatile__(                                            \
      SJ_POINT_DEFINE_SEMAPHORE_(point) SJ_POINT_DEFINE_FLAG_(point)          \
      SJ_POINT_TEST_TWO_(SJ_POINT_SEMAPHORE_(point), SJ_POINT_FLAG_(point))   \
      : SJ_POINT_TEST_TWO_OUTPUT_)
#elif defined(SJ_HAS_USDT_)
#define SJ_POINT_TEST_VARIABLES_ long long sj_point_armed
#define SJ_POINT_TEST_(point)                                                 \
  __asm__ __inline__ __volatile__(                                            \
      SJ_POINT_DEFINE_SEMAPHORE_(point)                                       \
      SJ_POINT_TEST_ONE_(SJ_POINT_SEMAPHORE_(point))                          \
      : SJ_POINT_TEST_ONE_OUTPUT_)
#else
#define SJ_POINT_TEST_VARIABLES_ long long sj_point_armed
#define SJ_POINT_TEST_(point)                                                 \
  __asm__ __inline__ __volatile__(                                            \
      SJ_POINT_DEFINE_FLAG_(point)                                            \
      SJ_POINT_TEST_ONE_(SJ_POINT_FLAG_(point))                               \
      : SJ_POINT_TEST_ONE_OUTPUT_)
#endif

/* From C++20 on a constexpr function may have points. They do nothing while the compiler evaluates
 * it. */
#if defined(__cplusplus) && __cplusplus >= 202002L
#define SJ_POINT_AT_RUN_TIME_ if (!__builtin_is_constant_evaluated())
#else
#define SJ_POINT_AT_RUN_TIME_
#endif

/* Declares variables; the statement or block that follows runs while somebody is attached. The
 * branch is marked as never taken: at the one in ten that gcc makes of __builtin_expect it lays out
 * a loop around the block, and keeps in registers what only the block needs. */
#define SJ_POINT_IF_ARMED_(point)                                             \
  SJ_POINT_TEST_VARIABLES_;                                                   \
  SJ_POINT_TEST_(point);                                                      \
  if (__builtin_expect_with_probability(sj_point_armed != 0, 0, 1.0))

/* clang-format on */

#endif
