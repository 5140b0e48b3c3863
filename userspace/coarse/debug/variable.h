// The start of an expression's value: an argument by its number, or one by its name and a path to a
// member, resolved by debug information. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf/events.h"

namespace sojourn::coarse {

// A register at the function's entry, and the steps from there. If it is the stack pointer, the
// first step reads memory.
struct ValueStart {
  std::uint8_t base = 0;  // word of pt_regs
  std::vector<sj_step> steps;
  std::uint8_t bytes = 8;  // of the value
  bool is_signed = false;
};

constexpr std::uint8_t kStackPointer = 19;  // word of pt_regs

constexpr sj_step only_add(std::int64_t add) {
  return {.add = add, .bytes = 0, .low_bit = 0, .bits = 64, .is_signed = 0, .pad = {}};
}
constexpr sj_step read_of(std::int64_t add, std::uint8_t bytes, bool is_signed) {
  return {.add = add,
          .bytes = bytes,
          .low_bit = 0,
          .bits = static_cast<std::uint8_t>(8 * bytes),
          .is_signed = is_signed ? std::uint8_t{1} : std::uint8_t{0},
          .pad = {}};
}

// The start of an argument by the System V ABI of x86-64, counting those in integer registers and
// behind them those on the stack.
ValueStart start_of_argument(unsigned number);

}  // namespace sojourn::coarse
