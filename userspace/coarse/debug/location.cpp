#include "userspace/coarse/debug/location.h"

#include <array>

#include <dwarf.h>

#include "userspace/coarse/debug/dwarf_types.h"

namespace sojourn::coarse::dwarf {

namespace {

// DWARF's numbers of registers, as words of pt_regs: rax rdx rcx rbx rsi rdi rbp rsp r8-r15.
constexpr std::array<std::uint8_t, 16> kWords = {10, 12, 11, 5, 13, 14, 4, kStackPointer,
                                                 9,  8,  7,  6, 3,  2,  1, 0};
// The frame's address in debug information is the stack pointer before the call.
constexpr std::int64_t kReturnAddressBytes = 8;

// Assigns the arguments in order to integer registers and the stack, as the ABI does.
class Arguments {
 public:
  // A result that is too large for registers uses the first register for its address.
  static Result<Arguments> of(Dwarf_Die function) {
    Arguments arguments;
    const auto result = type_of(function);
    if (result && is_record(*result)) {
      const auto bytes = bytes_of(*result);
      if (!bytes) return fail("how the function returns its result is not known");
      if (*bytes > 16 || is_by_reference(*result) || !parts_of(*result).are_aligned)
        ++arguments.integers_;
    }
    return arguments;
  }

  Result<Location> next(Dwarf_Die parameter) {
    const auto type = type_of(parameter);
    if (!type) return fail("its type is not known");
    if (is_record(*type)) return next_record(*type);
    const auto bytes = bytes_of(*type);
    const auto encoding = number_of(*type, DW_AT_encoding);
    if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float) return next_float(bytes);
    if (!is_pointer(*type) && !is_reference(*type) && (!bytes || *bytes > 8))
      return fail("it takes more than one register");
    return Location{.start = start_of_argument(next_integer()), .is_value = true};
  }

 private:
  // Arguments beyond the registers are on the stack, together with those passed by value.
  unsigned next_integer() { return integers_ < 6 ? integers_++ : 6 + stack_words_++; }

  Result<Location> next_record(Dwarf_Die type) {
    if (is_by_reference(type)) return Location{.start = start_of_argument(next_integer())};
    const auto bytes = bytes_of(type);
    if (!bytes || *bytes > 1 << 20) return fail("its size is not known");
    const Parts parts = parts_of(type);
    if (*bytes <= 16 && !parts.are_integers)
      return fail("it is passed in pieces, which are no integers");
    if (*bytes <= 8 && parts.are_aligned)
      return Location{.start = start_of_argument(next_integer()), .is_value = true};
    // Two registers, or none.
    if (*bytes <= 16 && parts.are_aligned && integers_ < 5) {
      integers_ += 2;
      return Location{.start = {}, .is_value = true, .is_in_two = true};
    }
    const std::int64_t at = kReturnAddressBytes + 8 * static_cast<std::int64_t>(stack_words_);
    stack_words_ += static_cast<unsigned>((*bytes + 7) / 8);
    return Location{.start = {.base = kStackPointer, .steps = {}}, .offset = at};
  }

  Result<Location> next_float(std::optional<std::uint64_t> bytes) {
    if (!bytes || *bytes > 8) return fail("it is a wide floating-point number");
    if (floats_ < 8)
      ++floats_;
    else
      ++stack_words_;
    Location place;
    place.is_value = true;
    return place;
  }

  unsigned integers_ = 0;
  unsigned floats_ = 0;
  unsigned stack_words_ = 0;
};

}  // namespace

std::optional<Location> located(Dwarf_Die function, Dwarf_Die parameter, std::uint64_t address) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr_integrate(&parameter, DW_AT_location, &attribute) == nullptr ||
      dwarf_getlocation_addr(&attribute, address, &operations, &count, 1) != 1 || count == 0)
    return std::nullopt;
  const Dwarf_Op& first = operations[0];
  const bool is_stack_value = count == 2 && operations[1].atom == DW_OP_stack_value;
  if (count != 1 && !is_stack_value) return std::nullopt;
  if (first.atom >= DW_OP_reg0 && first.atom <= DW_OP_reg15)
    return Location{.start = {.base = kWords[first.atom - DW_OP_reg0], .steps = {}},
                    .is_value = true};
  if (first.atom >= DW_OP_breg0 && first.atom <= DW_OP_breg15) {
    // At the entry the frame pointer still is the caller's.
    const auto number = static_cast<std::size_t>(first.atom - DW_OP_breg0);
    const auto offset = static_cast<std::int64_t>(first.number);
    constexpr std::size_t kFramePointer = 6;
    if (number == kFramePointer) return std::nullopt;
    Location place{.start = {.base = kWords[number], .steps = {}}, .offset = offset};
    if (is_stack_value) {
      place.is_value = true;
      place.offset = 0;
      if (offset != 0) place.start.steps.push_back(only_add(offset));
    }
    return place;
  }
  if (first.atom != DW_OP_fbreg || is_stack_value) return std::nullopt;
  // The caller has filled the stack above the frame; the frame itself is not filled yet.
  Dwarf_Attribute base;
  Dwarf_Op* base_operations = nullptr;
  std::size_t base_count = 0;
  const auto offset = static_cast<std::int64_t>(first.number);
  if (offset < 0 || dwarf_attr_integrate(&function, DW_AT_frame_base, &base) == nullptr ||
      dwarf_getlocation_addr(&base, address, &base_operations, &base_count, 1) != 1 ||
      base_count != 1 || base_operations[0].atom != DW_OP_call_frame_cfa)
    return std::nullopt;
  return Location{.start = {.base = kStackPointer, .steps = {}},
                  .offset = kReturnAddressBytes + offset};
}

Result<Location> placed(Dwarf_Die function, std::size_t number,
                        std::span<const Dwarf_Die> parameters) {
  SJ_TRY(arguments, Arguments::of(function));
  for (std::size_t at = 0; at < number; ++at)
    if (const auto before = arguments.next(parameters[at]); !before)
      return fail("the place of '{}' before it is not known: {}", name_of(parameters[at]),
                  before.error().text());
  return arguments.next(parameters[number]);
}

}  // namespace sojourn::coarse::dwarf
