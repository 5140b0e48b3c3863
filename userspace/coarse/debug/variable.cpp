#include "userspace/coarse/debug/variable.h"

#include <array>

namespace sojourn::coarse {

ValueStart start_of_argument(unsigned number) {
  // rdi, rsi, rdx, rcx, r8, r9
  constexpr std::array<std::uint8_t, 6> kRegisters = {14, 13, 12, 11, 9, 8};
  constexpr std::int64_t kReturnAddressBytes = 8;
  if (number < kRegisters.size()) return {.base = kRegisters[number], .steps = {}};
  const auto place = static_cast<std::int64_t>(number - kRegisters.size());
  return {.base = kStackPointer, .steps = {read_of(kReturnAddressBytes + 8 * place, 8, false)}};
}

}  // namespace sojourn::coarse
