/*
 * The ring engine's half of a point: the statement that writes the record, and the note that says
 * what it means. Not for use by itself: sojourn/point.h includes it.
 *
 * The record's id is the low half of an instruction's address in that statement: unique for each
 * copy of the point, known without a table, and found in the note by the collector.
 */
#ifndef SOJOURN_DETAIL_RING_SITE_H
#define SOJOURN_DETAIL_RING_SITE_H

#include <sojourn/detail/point_site.h>
#include <sojourn/detail/ring_write.h>

/* clang-format off */

#define SJ_RING_NOTE_(form, point, fields, count)                             \
  SJ_POINT_BEGIN_NOTE_(2, count)                                              \
  ".8byte 998b, " SJ_POINT_FIELDS_ADDRESS_##form ", " SJ_POINT_FLAG_(point) "\n" \
  SJ_RING_EACH_SIZE_(SJ_RING_SIZES_##count, ".byte \\s\n")                     \
  ".org 993b + 48\n"                                                          \
  SJ_POINT_END_NOTE_(form, point, fields)                                     \
  SJ_POINT_KEEP_FIELDS_##form("998b")

/* The sizes, for .irp. Up to five values are all in registers. With more of them the first three
 * are in registers, and the others in memory. */
#define SJ_RING_EACH_SIZE_(sizes, then) ".irp s," sizes "\n" then ".endr\n"
#define SJ_RING_SIZES_0 "0"
#define SJ_RING_SIZES_1 "%c[sj_size0]"
#define SJ_RING_SIZES_2 SJ_RING_SIZES_1 ",%c[sj_size1]"
#define SJ_RING_SIZES_3 SJ_RING_SIZES_2 ",%c[sj_size2]"
#define SJ_RING_SIZES_4 SJ_RING_SIZES_3 ",%c[sj_size3]"
#define SJ_RING_SIZES_5 SJ_RING_SIZES_4 ",%c[sj_size4]"
#define SJ_RING_SIZES_6 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_6
#define SJ_RING_SIZES_7 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_7
#define SJ_RING_SIZES_8 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_8
#define SJ_RING_SIZES_9 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_9
#define SJ_RING_SIZES_10 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_10
#define SJ_RING_SIZES_11 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_11
#define SJ_RING_SIZES_12 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_12
#define SJ_RING_SIZES_13 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_13
#define SJ_RING_SIZES_14 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_14
#define SJ_RING_SIZES_15 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_15
#define SJ_RING_SIZES_16 SJ_RING_SIZES_3 "," SJ_RING_SIZES_IN_MEMORY_16
#define SJ_RING_SIZES_IN_MEMORY_6 "%c[sj_size3],%c[sj_size4],%c[sj_size5]"
#define SJ_RING_SIZES_IN_MEMORY_7 SJ_RING_SIZES_IN_MEMORY_6 ",%c[sj_size6]"
#define SJ_RING_SIZES_IN_MEMORY_8 SJ_RING_SIZES_IN_MEMORY_7 ",%c[sj_size7]"
#define SJ_RING_SIZES_IN_MEMORY_9 SJ_RING_SIZES_IN_MEMORY_8 ",%c[sj_size8]"
#define SJ_RING_SIZES_IN_MEMORY_10 SJ_RING_SIZES_IN_MEMORY_9 ",%c[sj_size9]"
#define SJ_RING_SIZES_IN_MEMORY_11 SJ_RING_SIZES_IN_MEMORY_10 ",%c[sj_size10]"
#define SJ_RING_SIZES_IN_MEMORY_12 SJ_RING_SIZES_IN_MEMORY_11 ",%c[sj_size11]"
#define SJ_RING_SIZES_IN_MEMORY_13 SJ_RING_SIZES_IN_MEMORY_12 ",%c[sj_size12]"
#define SJ_RING_SIZES_IN_MEMORY_14 SJ_RING_SIZES_IN_MEMORY_13 ",%c[sj_size13]"
#define SJ_RING_SIZES_IN_MEMORY_15 SJ_RING_SIZES_IN_MEMORY_14 ",%c[sj_size14]"
#define SJ_RING_SIZES_IN_MEMORY_16 SJ_RING_SIZES_IN_MEMORY_15 ",%c[sj_size15]"

#define SJ_RING_VALUE_OPERAND_(index) \
  [sj_value##index] SJ_RING_VALUE_CONSTRAINT_(sj_point_value[index])
#define SJ_RING_VALUES_1 SJ_RING_VALUE_OPERAND_(0)
#define SJ_RING_VALUES_2 SJ_RING_VALUES_1, SJ_RING_VALUE_OPERAND_(1)
#define SJ_RING_VALUES_3 SJ_RING_VALUES_2, SJ_RING_VALUE_OPERAND_(2)
#define SJ_RING_VALUES_4 SJ_RING_VALUES_3, SJ_RING_VALUE_OPERAND_(3)
#define SJ_RING_VALUES_5 SJ_RING_VALUES_4, SJ_RING_VALUE_OPERAND_(4)
#define SJ_RING_VALUES_AND_ARRAY_ \
  SJ_RING_VALUES_3, [sj_values] "r"(sj_point_value), "m"(sj_point_value)
#define SJ_RING_VALUES_6 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_7 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_8 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_9 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_10 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_11 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_12 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_13 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_14 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_15 SJ_RING_VALUES_AND_ARRAY_
#define SJ_RING_VALUES_16 SJ_RING_VALUES_AND_ARRAY_

#define SJ_RING_PUT_0 ""
#define SJ_RING_PUT_1 SJ_RING_PUT_REGISTER_(0)
#define SJ_RING_PUT_2 SJ_RING_PUT_1 SJ_RING_PUT_REGISTER_(1)
#define SJ_RING_PUT_3 SJ_RING_PUT_2 SJ_RING_PUT_REGISTER_(2)
#define SJ_RING_PUT_4 SJ_RING_PUT_3 SJ_RING_PUT_REGISTER_(3)
#define SJ_RING_PUT_5 SJ_RING_PUT_4 SJ_RING_PUT_REGISTER_(4)
#define SJ_RING_PUT_AND_MEMORY_(count) \
  SJ_RING_PUT_3                        \
  ".set .Lsj_from, 8 * 3\n"            \
  SJ_RING_EACH_SIZE_(SJ_RING_SIZES_IN_MEMORY_##count, SJ_RING_PUT_MEMORY_)
#define SJ_RING_PUT_6 SJ_RING_PUT_AND_MEMORY_(6)
#define SJ_RING_PUT_7 SJ_RING_PUT_AND_MEMORY_(7)
#define SJ_RING_PUT_8 SJ_RING_PUT_AND_MEMORY_(8)
#define SJ_RING_PUT_9 SJ_RING_PUT_AND_MEMORY_(9)
#define SJ_RING_PUT_10 SJ_RING_PUT_AND_MEMORY_(10)
#define SJ_RING_PUT_11 SJ_RING_PUT_AND_MEMORY_(11)
#define SJ_RING_PUT_12 SJ_RING_PUT_AND_MEMORY_(12)
#define SJ_RING_PUT_13 SJ_RING_PUT_AND_MEMORY_(13)
#define SJ_RING_PUT_14 SJ_RING_PUT_AND_MEMORY_(14)
#define SJ_RING_PUT_15 SJ_RING_PUT_AND_MEMORY_(15)
#define SJ_RING_PUT_16 SJ_RING_PUT_AND_MEMORY_(16)

#define SJ_RING_HIT_(form, point, fields, count, ...)                         \
  __asm__ __inline__ __volatile__(                                            \
      SJ_RING_COUNT_BYTES_(SJ_RING_SIZES_##count)                             \
      SJ_RING_WRITE_(SJ_POINT_FLAG_(point), SJ_RING_PUT_##count)              \
      SJ_RING_NOTE_(form, point, fields, count)                               \
      :                                                                       \
      : SJ_RING_OFFSETS_, SJ_POINT_FIELDS_OPERAND_##form(fields) __VA_ARGS__  \
      : SJ_RING_CLOBBERS_)

/* clang-format on */

#endif
