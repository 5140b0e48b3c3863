// Code of a function that lies elsewhere and has no name, as in stripped files what compilers call
// NAME.cold: found by following the function's jumps, and told from other functions that it may
// jump to by the file's table for unwinding. No state.
#pragma once

#include <functional>
#include <vector>

#include "userspace/symbols/code_range.h"
#include "userspace/symbols/unwind_table.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

using symbols::CodeRange;
using symbols::UnwindTable;

// `has_name`: some function is known to be there. What is in doubt is none of them. The table,
// whose reading takes long, is asked for when a jump leads to where no function begins.
std::vector<CodeRange> find_cold_parts(const tracee::ElfFile& file,
                                       const std::function<const UnwindTable&()>& table,
                                       CodeRange function,
                                       const std::function<bool(CodeRange)>& has_name);

}  // namespace sojourn::coarse
