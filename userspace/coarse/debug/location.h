// Where an argument is when its function is entered: by what debug information says of that very
// address, or by the ABI. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <elfutils/libdw.h>

#include "analysis/base/result.h"
#include "userspace/coarse/debug/variable.h"

namespace sojourn::coarse::dwarf {

// A place in the program's data: in a register itself, or at an address that the start leads to.
struct Location {
  ValueStart start;
  std::int64_t offset = 0;  // added to the address
  // The start is the value, not its address: `offset` bytes of it are skipped.
  bool is_value = false;
  bool is_in_two = false;  // registers, of which the start is none
};

// Where debug information itself says that the argument is, right at the entry.
std::optional<Location> located(Dwarf_Die function, Dwarf_Die parameter, std::uint64_t address);

// Where the ABI puts the argument of that number.
Result<Location> placed(Dwarf_Die function, std::size_t number,
                        std::span<const Dwarf_Die> parameters);

}  // namespace sojourn::coarse::dwarf
