// Finds the exits of a function: its returns, and jumps to another function, which then returns in
// its place. There the stack pointer is the same as at the function's entry, which shows which call
// ends. x86-64; decided from the function's code alone, by decoding. No state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/coarse/code/prologue.h"

namespace sojourn::coarse {

struct Exit {
  std::uint64_t address = 0;
  bool is_return = false;   // false: a jump, and the result is not there yet
  bool is_stepped = false;  // executed by a single step
  std::string instruction;
};

// All exits, or an error that says why they are not known: with one missing, a capture would take
// calls that have ended for open ones. `pieces`: parts of the function that lie elsewhere.
Result<std::vector<Exit>> find_exits(const FunctionCode& code,
                                     std::span<const FunctionCode> pieces);

}  // namespace sojourn::coarse
