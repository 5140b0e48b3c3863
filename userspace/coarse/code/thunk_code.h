// Decides whether a thunk jumps to its method, or is a copy of it: gcc puts a small method's code
// into its thunk, so calls through a base class never reach the method itself. No state.
#pragma once

#include <cstdint>

#include "userspace/symbols/code_range.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

// Returns true also if the code cannot be read.
bool leads_to(const tracee::ElfFile& file, symbols::CodeRange thunk, std::uint64_t method);

}  // namespace sojourn::coarse
