// Finds the file with a stripped program's debug information, on this machine or in the target's
// root: by build id under /usr/lib/debug, or by its name in .gnu_debuglink. Only a file with the
// same build id is taken. No state.
#pragma once

#include <optional>

#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::coarse {

std::optional<tracee::ElfFile> find_debug_file(const tracee::ElfFile& file,
                                               const tracee::MappedFile& mapped);

}  // namespace sojourn::coarse
