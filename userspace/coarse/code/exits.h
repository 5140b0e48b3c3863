// Where a function is left: at its returns, and where it jumps to another function, which then
// returns in its place. There the stack pointer is what it was at the function's entry: that tells
// which call it is that ends. x86-64; decided from the function's code alone, by decoding. No
// state.
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
  bool is_return = false;   // else a jump: the function's result is not there yet
  bool is_stepped = false;  // executed by a single step
  std::string instruction;
};

// All of them, or the error that says why they are not known: a capture that missed one would call
// open what has ended. `pieces`: code of the function that lies elsewhere.
Result<std::vector<Exit>> find_exits(const FunctionCode& code,
                                     std::span<const FunctionCode> pieces);

}  // namespace sojourn::coarse
