// "pdu->inner.sn": from an argument to a member, through pointers, records and arrays. No state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <elfutils/libdw.h>

#include "analysis/base/result.h"
#include "userspace/coarse/debug/location.h"
#include "userspace/coarse/debug/variable.h"

namespace sojourn::coarse::dwarf {

// One step of a path: "->name", ".name", "[3]".
struct PathStep {
  enum class Kind { kArrow, kDot, kElement } kind = Kind::kDot;
  std::string name;
  std::uint64_t index = 0;
};

struct MemberPath {
  std::string argument;
  std::vector<PathStep> steps;
};

// Parses a path whose characters the expression's parser has checked.
Result<MemberPath> parse_path(std::string_view text);

// Follows the path from an argument of this type and location to the number at its end.
Result<ValueStart> follow(Location place, Dwarf_Die type, const MemberPath& path);

}  // namespace sojourn::coarse::dwarf
