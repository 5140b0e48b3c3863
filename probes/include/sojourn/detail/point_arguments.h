/*
 * The arguments of a point: how many, each one's original width and sign, each one's 64-bit value.
 * SJ_POINT_SIZE_(x) is a constant: bytes, negative for signed types, as USDT notes count them; it
 * refuses what is neither integer, enumeration, bool nor pointer. SJ_POINT_WIDEN_(x) is a long
 * long. A bit-field counts as the type it is promoted to (C) or declared with (C++); an array is
 * its address; an atomic is loaded. Not for use by itself: sojourn/point.h includes it.
 */
#ifndef SOJOURN_DETAIL_POINT_ARGUMENTS_H
#define SOJOURN_DETAIL_POINT_ARGUMENTS_H

/* Arguments after the two words; a seventeenth (to twentieth) becomes a message. */
#define SJ_POINT_COUNT_(...)                                                                   \
  SJ_POINT_PICK_(__VA_ARGS__, TOO_MANY_ARGUMENTS, TOO_MANY_ARGUMENTS, TOO_MANY_ARGUMENTS,      \
                 TOO_MANY_ARGUMENTS, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, \
                 WORDS_MISSING, WORDS_MISSING)
#define SJ_POINT_PICK_(w, x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, count, \
                       ...)                                                                     \
  count

/* each(index, argument) for every argument, separated by commas. */
#define SJ_POINT_EACH_1(each, a) each(0, a)
#define SJ_POINT_EACH_2(each, a, b) SJ_POINT_EACH_1(each, a), each(1, b)
#define SJ_POINT_EACH_3(each, a, b, c) SJ_POINT_EACH_2(each, a, b), each(2, c)
#define SJ_POINT_EACH_4(each, a, b, c, d) SJ_POINT_EACH_3(each, a, b, c), each(3, d)
#define SJ_POINT_EACH_5(each, a, b, c, d, e) SJ_POINT_EACH_4(each, a, b, c, d), each(4, e)
#define SJ_POINT_EACH_6(each, a, b, c, d, e, f) SJ_POINT_EACH_5(each, a, b, c, d, e), each(5, f)
#define SJ_POINT_EACH_7(each, a, b, c, d, e, f, g) \
  SJ_POINT_EACH_6(each, a, b, c, d, e, f), each(6, g)
#define SJ_POINT_EACH_8(each, a, b, c, d, e, f, g, h) \
  SJ_POINT_EACH_7(each, a, b, c, d, e, f, g), each(7, h)
#define SJ_POINT_EACH_9(each, a, b, c, d, e, f, g, h, i) \
  SJ_POINT_EACH_8(each, a, b, c, d, e, f, g, h), each(8, i)
#define SJ_POINT_EACH_10(each, a, b, c, d, e, f, g, h, i, j) \
  SJ_POINT_EACH_9(each, a, b, c, d, e, f, g, h, i), each(9, j)
#define SJ_POINT_EACH_11(each, a, b, c, d, e, f, g, h, i, j, k) \
  SJ_POINT_EACH_10(each, a, b, c, d, e, f, g, h, i, j), each(10, k)
#define SJ_POINT_EACH_12(each, a, b, c, d, e, f, g, h, i, j, k, l) \
  SJ_POINT_EACH_11(each, a, b, c, d, e, f, g, h, i, j, k), each(11, l)
#define SJ_POINT_EACH_13(each, a, b, c, d, e, f, g, h, i, j, k, l, m) \
  SJ_POINT_EACH_12(each, a, b, c, d, e, f, g, h, i, j, k, l), each(12, m)
#define SJ_POINT_EACH_14(each, a, b, c, d, e, f, g, h, i, j, k, l, m, n) \
  SJ_POINT_EACH_13(each, a, b, c, d, e, f, g, h, i, j, k, l, m), each(13, n)
#define SJ_POINT_EACH_15(each, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) \
  SJ_POINT_EACH_14(each, a, b, c, d, e, f, g, h, i, j, k, l, m, n), each(14, o)
#define SJ_POINT_EACH_16(each, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
  SJ_POINT_EACH_15(each, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o), each(15, p)

#ifdef __cplusplus

#include <cstdint>
#include <type_traits>
#include <utility>

namespace sojourn::point_detail {

template <typename T>
inline constexpr bool is_scalar =
    std::is_integral_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>;

template <typename T, std::enable_if_t<is_scalar<T>, int> = 0>
[[gnu::always_inline]] constexpr long long widen(T value) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<long long>(reinterpret_cast<std::intptr_t>(value));
  } else {
    return static_cast<long long>(value);
  }
}

// std::atomic, and classes with the same load().
template <typename T, std::enable_if_t<std::is_class_v<T>, int> = 0>
[[gnu::always_inline]] inline auto widen(const T& atomic) noexcept
    -> decltype(widen(atomic.load())) {
  return widen(atomic.load());
}

template <typename T, typename = void>
struct Loaded {
  using Type = T;
};
template <typename T>
struct Loaded<T, std::void_t<decltype(std::declval<const T&>().load())>> {
  using Type = decltype(std::declval<const T&>().load());
};

template <typename T>
struct OperandSize {
  using Value = typename Loaded<std::decay_t<T>>::Type;
  static_assert(
      is_scalar<Value> && sizeof(Value) <= sizeof(long long),
      "a point's argument is an integer of up to 64 bits, an enumerator, a bool or a pointer");

  template <typename U, bool is_enum = std::is_enum_v<U>>
  struct Signed : std::is_signed<U> {};
  template <typename U>
  struct Signed<U, true> : std::is_signed<std::underlying_type_t<U>> {};

  static constexpr int value =
      Signed<Value>::value ? -static_cast<int>(sizeof(Value)) : static_cast<int>(sizeof(Value));
};

}  // namespace sojourn::point_detail

#define SJ_POINT_SIZE_(argument) (::sojourn::point_detail::OperandSize<decltype((argument))>::value)
#define SJ_POINT_WIDEN_(argument) (::sojourn::point_detail::widen(argument))

#else

#define SJ_POINT_SIZE_(argument)   \
  _Generic((argument),             \
      _Bool: 1,                    \
      char: (char)-1 < 0 ? -1 : 1, \
      signed char: -1,             \
      unsigned char: 1,            \
      short: -2,                   \
      unsigned short: 2,           \
      int: -4,                     \
      unsigned int: 4,             \
      long: -8,                    \
      unsigned long: 8,            \
      long long: -8,               \
      unsigned long long: 8,       \
      default: SJ_POINT_OTHER_SIZE_(argument))

/* Bit-fields and pointers. __builtin_classify_type: up to 4 like an integer, 5 a pointer, then what
 * is refused. `1 ? x : 0` promotes a bit-field to int; one too wide for that keeps a type of its
 * own. */
#define SJ_POINT_OTHER_SIZE_(argument)                                                             \
  (_Generic((1 ? (argument) : 0),                                                                  \
       int: -4,                                                                                    \
       unsigned int: 4,                                                                            \
       default: (long long)(SJ_POINT_NUMBER_TYPE_(argument)) - 1 < 0 ? -8 : 8) *                   \
   __extension__(int) sizeof(struct {                                                              \
     _Static_assert(                                                                               \
         __builtin_classify_type(argument) <= 5,                                                   \
         "a point's argument is an integer of up to 64 bits, an enumerator, a bool or a pointer"); \
     char one;                                                                                     \
   }))
#define SJ_POINT_NUMBER_TYPE_(argument) \
  __typeof__(1 ? __builtin_choose_expr(__builtin_classify_type(argument) == 5, 0U, (argument)) : 0)

#define SJ_POINT_WIDEN_(argument) ((long long)(argument))

#endif

#endif
