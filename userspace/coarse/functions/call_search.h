// Finds a file's calls of a function, in a child process, because the file may be forged. No state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "userspace/coarse/code/call_sites.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

Result<CallsInFile> find_calls(const tracee::ElfFile& file, const std::string& linked,
                               std::optional<std::uint64_t> own);

}  // namespace sojourn::coarse
