// Finds where an argument is when its function is entered: by debug information for that address,
// or by the ABI. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <elfutils/libdw.h>

#include "analysis/base/result.h"
#include "userspace/coarse/debug/variable.h"

namespace sojourn::coarse::dwarf {

// The location of a value: in a register, or at an address that the start leads to.
struct Location {
  ValueStart start;
  std::int64_t offset = 0;  // added to the address
  // The start is the value, not its address: `offset` bytes of it are skipped.
  bool is_value = false;
  bool is_in_two = false;  // the value is in two registers, and the start is neither
};

// The location by debug information, right at the entry.
std::optional<Location> located(Dwarf_Die function, Dwarf_Die parameter, std::uint64_t address);

// The location by the ABI, for the argument of that number.
Result<Location> placed(Dwarf_Die function, std::size_t number,
                        std::span<const Dwarf_Die> parameters);

}  // namespace sojourn::coarse::dwarf
