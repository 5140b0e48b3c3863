/*
 * A measurement point: where a data unit leaves one stage of a pipeline and enters the next.
 *
 *   SJ_POINT("D rlc.tx.am--rlc.seg.am", "len:rnti:drb.psn.rsn.so", len, rnti, drb, psn, rsn, so);
 *
 * First words: direction D, U, I or S, a space, source--destination. Second words: field names,
 * properties ':' global ids ':' local ids, separated by dots, any group may be empty. Then for each
 * name one integer, enumerator, bool or pointer, 0 to 16 of them, widened to 64 bits with its sign.
 * Two engines record hits, and the tracer that attaches while the program runs chooses: a USDT
 * tracer, or a collector of the rings (-DSJ_RINGS and the runtime library, as the packages set it).
 * While no tracer is attached a hit costs two flags OR-ed and one branch. The arguments are
 * evaluated ONLY while one is attached.
 *
 * C11, C++17 and later; gcc >= 12, clang >= 14; x86-64 and arm64. Any thread, any signal handler.
 * -DSJ_NO_RINGS or -DSJ_NO_USDT leave one engine away, -DSJ_DISABLE_POINTS removes every point; the
 * arguments still have to compile.
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

#ifndef SJ_NO_USDT
#define SJ_HAS_USDT_
#endif
#if defined(SJ_RINGS) && !defined(SJ_NO_RINGS)
#define SJ_HAS_RINGS_
#endif
#if !defined(SJ_HAS_USDT_) && !defined(SJ_HAS_RINGS_) && !defined(SJ_DISABLE_POINTS)
#define SJ_DISABLE_POINTS
#endif

#ifndef SJ_DISABLE_POINTS
#include <sojourn/detail/point_site.h>
#ifdef SJ_HAS_RINGS_
#include <sojourn/detail/ring_site.h>
#endif
#endif

/* The file's name without directories: a '%' in one of them would break the assembler template. */
#ifndef SJ_SOURCE_FILE
#define SJ_SOURCE_FILE __FILE_NAME__
#endif

/* `form`: how the words of the fields reach the note. sj_plain: in the assembler's template, as
 * SJ_POINT's; sj_printf: by address, as LATSEQ_P's, which hold '%' (latseq.h). */
#define SJ_POINT(...) SJ_POINT_OF_(sj_plain, __VA_ARGS__)
#define SJ_POINT_OF_(form, ...) SJ_POINT_EXPAND_(form, SJ_POINT_COUNT_(__VA_ARGS__), __VA_ARGS__)
#define SJ_POINT_EXPAND_(form, count, ...) SJ_POINT_CALL_(form, count, __VA_ARGS__)
#define SJ_POINT_CALL_(form, count, ...) SJ_POINT_WITH_##count(form, __VA_ARGS__)

#define SJ_POINT_WITH_0(...) SJ_POINT_NONE_(__VA_ARGS__)
#define SJ_POINT_WITH_1(...) SJ_POINT_SOME_(1, __VA_ARGS__)
#define SJ_POINT_WITH_2(...) SJ_POINT_SOME_(2, __VA_ARGS__)
#define SJ_POINT_WITH_3(...) SJ_POINT_SOME_(3, __VA_ARGS__)
#define SJ_POINT_WITH_4(...) SJ_POINT_SOME_(4, __VA_ARGS__)
#define SJ_POINT_WITH_5(...) SJ_POINT_SOME_(5, __VA_ARGS__)
#define SJ_POINT_WITH_6(...) SJ_POINT_SOME_(6, __VA_ARGS__)
#define SJ_POINT_WITH_7(...) SJ_POINT_SOME_(7, __VA_ARGS__)
#define SJ_POINT_WITH_8(...) SJ_POINT_SOME_(8, __VA_ARGS__)
#define SJ_POINT_WITH_9(...) SJ_POINT_SOME_(9, __VA_ARGS__)
#define SJ_POINT_WITH_10(...) SJ_POINT_SOME_(10, __VA_ARGS__)
#define SJ_POINT_WITH_11(...) SJ_POINT_SOME_(11, __VA_ARGS__)
#define SJ_POINT_WITH_12(...) SJ_POINT_SOME_(12, __VA_ARGS__)
#define SJ_POINT_WITH_13(...) SJ_POINT_SOME_(13, __VA_ARGS__)
#define SJ_POINT_WITH_14(...) SJ_POINT_SOME_(14, __VA_ARGS__)
#define SJ_POINT_WITH_15(...) SJ_POINT_SOME_(15, __VA_ARGS__)
#define SJ_POINT_WITH_16(...) SJ_POINT_SOME_(16, __VA_ARGS__)

#define SJ_POINT_WITH_TOO_MANY_ARGUMENTS(...) \
  _Pragma("GCC error \"SJ_POINT takes at most 16 arguments\"")
#define SJ_POINT_WITH_WORDS_MISSING(...) \
  _Pragma("GCC error \"SJ_POINT needs the words of the point and the words of its fields\"")

#ifdef __cplusplus
#define SJ_POINT_CHECK_WORDS_sj_plain(point, fields, count)                                 \
  static_assert(::sojourn::point_detail::is_point(point),                                   \
                "a point's first words read \"D source--destination\", with D, U, I or S"); \
  static_assert(::sojourn::point_detail::is_fields(fields),                                 \
                "a point's second words read \"properties:globals:locals\"");               \
  static_assert(::sojourn::point_detail::count_names(fields) == (count),                    \
                "a point needs exactly one argument for each field name")
#define SJ_POINT_CHECK_WORDS_sj_printf(point, fields, count)                   \
  static_assert(::sojourn::point_detail::count_conversions(fields) == (count), \
                "LATSEQ_P needs exactly one argument for each conversion of its format")
#else
/* In C the assembler checks them, see point_site.h. */
#define SJ_POINT_CHECK_WORDS_sj_plain(point, fields, count) (void)0
#define SJ_POINT_CHECK_WORDS_sj_printf(point, fields, count) (void)0
#endif

#ifdef SJ_DISABLE_POINTS

#define SJ_POINT_COMPILE_(index, value) (void)SJ_POINT_SIZE_(value), (void)SJ_POINT_WIDEN_(value)
#define SJ_POINT_NOTHING_(form, point, fields, count, ...) \
  do {                                                     \
    SJ_POINT_CHECK_WORDS_##form(point, fields, count);     \
    if (0) {                                               \
      __VA_ARGS__;                                         \
    }                                                      \
  } while (0)
#define SJ_POINT_NONE_(form, point, fields) SJ_POINT_NOTHING_(form, point, fields, 0, (void)0)
#define SJ_POINT_SOME_(count, form, point, fields, ...) \
  SJ_POINT_NOTHING_(form, point, fields, count,         \
                    SJ_POINT_EACH_##count(SJ_POINT_COMPILE_, __VA_ARGS__))

#else

/* clang-format off */

#ifdef SJ_HAS_USDT_
#define SJ_USDT_HIT_(...) SJ_POINT_SITE_(__VA_ARGS__)
#else
#define SJ_USDT_HIT_(...) (void)0
#endif
#ifndef SJ_HAS_RINGS_
#define SJ_RING_HIT_(...) (void)0
#endif

/* The last operand is unused: before C23 a macro's "..." may not be empty. */
#define SJ_POINT_NONE_(form, point, fields)                                   \
  do {                                                                        \
    SJ_POINT_CHECK_WORDS_##form(point, fields, 0);                            \
    SJ_POINT_AT_RUN_TIME_ {                                                   \
      SJ_POINT_IF_ARMED_(point) {                                             \
        SJ_POINT_CHECK_IN_ASSEMBLER_##form(point, fields, 0);                 \
        SJ_RING_HIT_(form, point, fields, 0, [sj_none] "n"(0));               \
        SJ_USDT_HIT_(form, point, fields, 0, [sj_none] "n"(0));               \
      }                                                                       \
    }                                                                         \
  } while (0)

/* Evaluates each argument once, for both engines. */
#define SJ_POINT_SOME_(count, form, point, fields, ...)                       \
  do {                                                                        \
    SJ_POINT_CHECK_WORDS_##form(point, fields, count);                        \
    SJ_POINT_AT_RUN_TIME_ {                                                   \
      SJ_POINT_IF_ARMED_(point) {                                             \
        const long long sj_point_value[] = {                                  \
            SJ_POINT_EACH_##count(SJ_POINT_ELEMENT_, __VA_ARGS__)};           \
        SJ_POINT_CHECK_IN_ASSEMBLER_##form(point, fields, count);             \
        SJ_RING_HIT_(form, point, fields, count,                              \
                     SJ_POINT_EACH_##count(SJ_POINT_SIZE_OPERAND_, __VA_ARGS__), \
                     SJ_RING_VALUES_##count);                                 \
        SJ_USDT_HIT_(form, point, fields, count,                              \
                     SJ_POINT_EACH_##count(SJ_POINT_SIZE_OPERAND_, __VA_ARGS__), \
                     SJ_POINT_VALUES_##count);                                \
      }                                                                       \
    }                                                                         \
  } while (0)

/* clang-format on */

#endif

#endif
