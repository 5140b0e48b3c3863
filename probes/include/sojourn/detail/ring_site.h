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

#define SJ_RING_NOTE_(point, fields, count)                                   \
  SJ_POINT_BEGIN_NOTE_(2, count)                                              \
  ".8byte 998b, 0, " SJ_POINT_FLAG_(point) "\n"                               \
  SJ_RING_SIZES_##count ".zero 16 - " #count "\n"                             \
  SJ_POINT_END_NOTE_(point, fields)

#define SJ_RING_SIZE_TEXT_(index) ".byte %c[sj_size" #index "]\n"
#define SJ_RING_SIZES_0 ""
#define SJ_RING_SIZES_1 SJ_RING_SIZE_TEXT_(0)
#define SJ_RING_SIZES_2 SJ_RING_SIZES_1 SJ_RING_SIZE_TEXT_(1)
#define SJ_RING_SIZES_3 SJ_RING_SIZES_2 SJ_RING_SIZE_TEXT_(2)
#define SJ_RING_SIZES_4 SJ_RING_SIZES_3 SJ_RING_SIZE_TEXT_(3)
#define SJ_RING_SIZES_5 SJ_RING_SIZES_4 SJ_RING_SIZE_TEXT_(4)
#define SJ_RING_SIZES_6 SJ_RING_SIZES_5 SJ_RING_SIZE_TEXT_(5)
#define SJ_RING_SIZES_7 SJ_RING_SIZES_6 SJ_RING_SIZE_TEXT_(6)
#define SJ_RING_SIZES_8 SJ_RING_SIZES_7 SJ_RING_SIZE_TEXT_(7)
#define SJ_RING_SIZES_9 SJ_RING_SIZES_8 SJ_RING_SIZE_TEXT_(8)
#define SJ_RING_SIZES_10 SJ_RING_SIZES_9 SJ_RING_SIZE_TEXT_(9)
#define SJ_RING_SIZES_11 SJ_RING_SIZES_10 SJ_RING_SIZE_TEXT_(10)
#define SJ_RING_SIZES_12 SJ_RING_SIZES_11 SJ_RING_SIZE_TEXT_(11)
#define SJ_RING_SIZES_13 SJ_RING_SIZES_12 SJ_RING_SIZE_TEXT_(12)
#define SJ_RING_SIZES_14 SJ_RING_SIZES_13 SJ_RING_SIZE_TEXT_(13)
#define SJ_RING_SIZES_15 SJ_RING_SIZES_14 SJ_RING_SIZE_TEXT_(14)
#define SJ_RING_SIZES_16 SJ_RING_SIZES_15 SJ_RING_SIZE_TEXT_(15)

/* Up to five values in registers; of more, three, and the others behind one. */
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
#define SJ_RING_PUT_6 \
  SJ_RING_PUT_3 SJ_RING_PUT_MEMORY_(3) SJ_RING_PUT_MEMORY_(4) SJ_RING_PUT_MEMORY_(5)
#define SJ_RING_PUT_7 SJ_RING_PUT_6 SJ_RING_PUT_MEMORY_(6)
#define SJ_RING_PUT_8 SJ_RING_PUT_7 SJ_RING_PUT_MEMORY_(7)
#define SJ_RING_PUT_9 SJ_RING_PUT_8 SJ_RING_PUT_MEMORY_(8)
#define SJ_RING_PUT_10 SJ_RING_PUT_9 SJ_RING_PUT_MEMORY_(9)
#define SJ_RING_PUT_11 SJ_RING_PUT_10 SJ_RING_PUT_MEMORY_(10)
#define SJ_RING_PUT_12 SJ_RING_PUT_11 SJ_RING_PUT_MEMORY_(11)
#define SJ_RING_PUT_13 SJ_RING_PUT_12 SJ_RING_PUT_MEMORY_(12)
#define SJ_RING_PUT_14 SJ_RING_PUT_13 SJ_RING_PUT_MEMORY_(13)
#define SJ_RING_PUT_15 SJ_RING_PUT_14 SJ_RING_PUT_MEMORY_(14)
#define SJ_RING_PUT_16 SJ_RING_PUT_15 SJ_RING_PUT_MEMORY_(15)

#define SJ_RING_ADD_0 ""
#define SJ_RING_ADD_1 SJ_RING_ADD_0 SJ_RING_ADD_SIZE_(0)
#define SJ_RING_ADD_2 SJ_RING_ADD_1 SJ_RING_ADD_SIZE_(1)
#define SJ_RING_ADD_3 SJ_RING_ADD_2 SJ_RING_ADD_SIZE_(2)
#define SJ_RING_ADD_4 SJ_RING_ADD_3 SJ_RING_ADD_SIZE_(3)
#define SJ_RING_ADD_5 SJ_RING_ADD_4 SJ_RING_ADD_SIZE_(4)
#define SJ_RING_ADD_6 SJ_RING_ADD_5 SJ_RING_ADD_SIZE_(5)
#define SJ_RING_ADD_7 SJ_RING_ADD_6 SJ_RING_ADD_SIZE_(6)
#define SJ_RING_ADD_8 SJ_RING_ADD_7 SJ_RING_ADD_SIZE_(7)
#define SJ_RING_ADD_9 SJ_RING_ADD_8 SJ_RING_ADD_SIZE_(8)
#define SJ_RING_ADD_10 SJ_RING_ADD_9 SJ_RING_ADD_SIZE_(9)
#define SJ_RING_ADD_11 SJ_RING_ADD_10 SJ_RING_ADD_SIZE_(10)
#define SJ_RING_ADD_12 SJ_RING_ADD_11 SJ_RING_ADD_SIZE_(11)
#define SJ_RING_ADD_13 SJ_RING_ADD_12 SJ_RING_ADD_SIZE_(12)
#define SJ_RING_ADD_14 SJ_RING_ADD_13 SJ_RING_ADD_SIZE_(13)
#define SJ_RING_ADD_15 SJ_RING_ADD_14 SJ_RING_ADD_SIZE_(14)
#define SJ_RING_ADD_16 SJ_RING_ADD_15 SJ_RING_ADD_SIZE_(15)

#define SJ_RING_HIT_(point, fields, count, ...)                               \
  __asm__ __inline__ __volatile__(                                            \
      SJ_RING_BEGIN_BYTES_ SJ_RING_ADD_##count SJ_RING_END_BYTES_             \
      SJ_RING_WRITE_(SJ_POINT_FLAG_(point), SJ_RING_PUT_##count)              \
      SJ_RING_NOTE_(point, fields, count)                                     \
      SJ_POINT_CHECK_IN_ASSEMBLER_(point, fields, count)                      \
      :                                                                       \
      : SJ_RING_OFFSETS_, __VA_ARGS__                                         \
      : SJ_RING_CLOBBERS_)

/* clang-format on */

#endif
