// Finds parts of a function that lie elsewhere and have no name, such as the code that compilers
// call NAME.cold, in stripped files. It follows the function's jumps, and distinguishes parts from
// other functions by the file's unwind table. No state.
#pragma once

#include <functional>
#include <vector>

#include "userspace/symbols/code_range.h"
#include "userspace/symbols/unwind_table.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

using symbols::CodeRange;
using symbols::UnwindTable;

// `has_name`: whether a known function has the address. Doubtful code is left out. The unwind
// table, which takes long to read, is read only if a jump leads to an address at which no function
// begins.
std::vector<CodeRange> find_cold_parts(const tracee::ElfFile& file,
                                       const std::function<const UnwindTable&()>& table,
                                       CodeRange function,
                                       const std::function<bool(CodeRange)>& has_name);

}  // namespace sojourn::coarse
