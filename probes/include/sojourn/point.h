/*
 * A measurement point: where a data unit leaves one stage of a pipeline and enters the next.
 *
 *   SJ_POINT("D rlc.tx.am--rlc.seg.am", "len:rnti:drb.psn.rsn.so", len, rnti, drb, psn, rsn, so);
 *
 * First words: direction D, U, I or S, a space, source--destination. Second words: field names,
 * properties ':' global ids ':' local ids, separated by dots, any group may be empty. Then for each
 * name one integer, enumerator, bool or pointer, 0 to 16 of them, widened to 64 bits with its sign.
 * Nobody attached: one test of a cached flag. The arguments are evaluated ONLY while one is
 * attached. C11, C++17 and later; gcc >= 12, clang >= 14; x86-64 and arm64. No state: any thread,
 * any signal handler. -DSJ_DISABLE_POINTS removes every point; the arguments still have to compile.
 */
#ifndef SOJOURN_POINT_H
#define SOJOURN_POINT_H

#if defined(__cplusplus) && __cplusplus < 201703L
#error "SJ_POINT needs C++17 or later"
#endif

#include <sojourn/detail/point_arguments.h>
#ifdef __cplusplus
#include <sojourn/detail/point_words.h>
#endif
#ifndef SJ_DISABLE_POINTS
#include <sojourn/detail/point_site.h>
#endif

/* Without its directories: one of them may hold a '%', which an assembler template cannot carry. */
#ifndef SJ_SOURCE_FILE
#define SJ_SOURCE_FILE __FILE_NAME__
#endif

#define SJ_POINT(...) SJ_POINT_EXPAND_(SJ_POINT_COUNT_(__VA_ARGS__), __VA_ARGS__)
#define SJ_POINT_EXPAND_(count, ...) SJ_POINT_CALL_(count, __VA_ARGS__)
#define SJ_POINT_CALL_(count, ...) SJ_POINT_WITH_##count(__VA_ARGS__)

#define SJ_POINT_WITH_0(point, fields) SJ_POINT_NONE_(point, fields)
#define SJ_POINT_WITH_1(...) SJ_POINT_FEW_(1, __VA_ARGS__)
#define SJ_POINT_WITH_2(...) SJ_POINT_FEW_(2, __VA_ARGS__)
#define SJ_POINT_WITH_3(...) SJ_POINT_FEW_(3, __VA_ARGS__)
#define SJ_POINT_WITH_4(...) SJ_POINT_FEW_(4, __VA_ARGS__)
#define SJ_POINT_WITH_5(...) SJ_POINT_FEW_(5, __VA_ARGS__)
#define SJ_POINT_WITH_6(...) SJ_POINT_FEW_(6, __VA_ARGS__)
#define SJ_POINT_WITH_7(...) SJ_POINT_FEW_(7, __VA_ARGS__)
#define SJ_POINT_WITH_8(...) SJ_POINT_FEW_(8, __VA_ARGS__)
#define SJ_POINT_WITH_9(...) SJ_POINT_MANY_(9, 1, __VA_ARGS__)
#define SJ_POINT_WITH_10(...) SJ_POINT_MANY_(10, 2, __VA_ARGS__)
#define SJ_POINT_WITH_11(...) SJ_POINT_MANY_(11, 3, __VA_ARGS__)
#define SJ_POINT_WITH_12(...) SJ_POINT_MANY_(12, 4, __VA_ARGS__)
#define SJ_POINT_WITH_13(...) SJ_POINT_MANY_(13, 5, __VA_ARGS__)
#define SJ_POINT_WITH_14(...) SJ_POINT_MANY_(14, 6, __VA_ARGS__)
#define SJ_POINT_WITH_15(...) SJ_POINT_MANY_(15, 7, __VA_ARGS__)
#define SJ_POINT_WITH_16(...) SJ_POINT_MANY_(16, 8, __VA_ARGS__)

#define SJ_POINT_WITH_TOO_MANY_ARGUMENTS(...) \
  _Pragma("GCC error \"SJ_POINT takes at most 16 arguments\"")
#define SJ_POINT_WITH_WORDS_MISSING(...) \
  _Pragma("GCC error \"SJ_POINT needs the words of the point and the words of its fields\"")

#ifdef __cplusplus
#define SJ_POINT_CHECK_WORDS_(point, fields, count)                                         \
  static_assert(::sojourn::point_detail::is_point(point),                                   \
                "a point's first words read \"D source--destination\", with D, U, I or S"); \
  static_assert(::sojourn::point_detail::is_fields(fields),                                 \
                "a point's second words read \"properties:globals:locals\"");               \
  static_assert(::sojourn::point_detail::count_names(fields) == (count),                    \
                "a point needs exactly one argument for each field name")
#else
/* In C the assembler checks them, see point_site.h. */
#define SJ_POINT_CHECK_WORDS_(point, fields, count) (void)0
#endif

#ifdef SJ_DISABLE_POINTS

#define SJ_POINT_COMPILE_(index, value) (void)SJ_POINT_SIZE_(value), (void)SJ_POINT_WIDEN_(value)
#define SJ_POINT_NOTHING_(point, fields, count, ...) \
  do {                                               \
    SJ_POINT_CHECK_WORDS_(point, fields, count);     \
    if (0) {                                         \
      __VA_ARGS__;                                   \
    }                                                \
  } while (0)
#define SJ_POINT_NONE_(point, fields) SJ_POINT_NOTHING_(point, fields, 0, (void)0)
#define SJ_POINT_FEW_(count, point, fields, ...) \
  SJ_POINT_NOTHING_(point, fields, count, SJ_POINT_EACH_##count(SJ_POINT_COMPILE_, __VA_ARGS__))
#define SJ_POINT_MANY_(count, rest, point, fields, a, b, c, d, e, f, g, h, ...) \
  SJ_POINT_NOTHING_(point, fields, count,                                       \
                    SJ_POINT_EACH_8(SJ_POINT_COMPILE_, a, b, c, d, e, f, g, h), \
                    SJ_POINT_EACH_##rest(SJ_POINT_COMPILE_, __VA_ARGS__))

#else

#define SJ_POINT_NONE_(point, fields)                   \
  do {                                                  \
    SJ_POINT_IF_ARMED_(point, fields, 0)                \
    /* a macro's "..." may not be empty before C23 */   \
    SJ_POINT_SITE_(point, fields, 0, [sj_none] "n"(0)); \
  } while (0)

#define SJ_POINT_FEW_(count, point, fields, ...)                                    \
  do {                                                                              \
    SJ_POINT_IF_ARMED_(point, fields, count)                                        \
    SJ_POINT_SITE_(point, fields, count,                                            \
                   SJ_POINT_EACH_##count(SJ_POINT_REGISTER_OPERAND_, __VA_ARGS__)); \
  } while (0)

/* No room for more than eight in registers: the others go into an array behind one more. */
#define SJ_POINT_MANY_(count, rest, point, fields, a, b, c, d, e, f, g, h, ...)                 \
  do {                                                                                          \
    SJ_POINT_IF_ARMED_(point, fields, count) {                                                  \
      const long long sj_point_rest[] = {SJ_POINT_EACH_##rest(SJ_POINT_ELEMENT_, __VA_ARGS__)}; \
      SJ_POINT_SITE_(point, fields, count,                                                      \
                     SJ_POINT_EACH_8(SJ_POINT_REGISTER_OPERAND_, a, b, c, d, e, f, g, h),       \
                     SJ_POINT_EACH_##rest(SJ_POINT_MEMORY_OPERAND_, __VA_ARGS__),               \
                     [sj_rest] "r"(sj_point_rest), "m"(sj_point_rest));                         \
    }                                                                                           \
  } while (0)

#endif

#endif
