// Numbers of the filter language: whole, 128 bits wide, so that every 64-bit field, signed or not,
// and every time compares as it should. A result that does not fit is no number. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

namespace sojourn::filter {

using Number = __int128;

enum class Operator : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide, kRemainder };

// Division by zero and overflow give no number. Division drops the fraction, as C does.
inline std::optional<Number> calculate(Operator op, Number left, Number right) {
  Number result = 0;
  switch (op) {
    case Operator::kAdd:
      if (__builtin_add_overflow(left, right, &result)) return std::nullopt;
      return result;
    case Operator::kSubtract:
      if (__builtin_sub_overflow(left, right, &result)) return std::nullopt;
      return result;
    case Operator::kMultiply:
      if (__builtin_mul_overflow(left, right, &result)) return std::nullopt;
      return result;
    case Operator::kDivide:
    case Operator::kRemainder:
      if (right == 0) return std::nullopt;
      // The most negative number has no positive counterpart.
      if (right == -1)
        return op == Operator::kRemainder ? 0 : calculate(Operator::kSubtract, 0, left);
      return op == Operator::kDivide ? left / right : left % right;
  }
  return std::nullopt;
}

inline constexpr Number kMinNumber = static_cast<Number>(static_cast<unsigned __int128>(1) << 127);
inline constexpr Number kMaxNumber = ~kMinNumber;

// An interval; both ends belong to it.
struct Range {
  Number low = kMinNumber;
  Number high = kMaxNumber;

  bool holds(Number number) const { return low <= number && number <= high; }
  bool operator==(const Range&) const = default;
};

}  // namespace sojourn::filter
