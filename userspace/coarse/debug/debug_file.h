// The file that a stripped program's debug information was moved to, if it is on this machine or in
// the target's root: by build id under /usr/lib/debug, or by the name that the program has for it.
// Only one of the same build id is taken. No state.
#pragma once

#include <optional>

#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::coarse {

std::optional<tracee::ElfFile> find_debug_file(const tracee::ElfFile& file,
                                               const tracee::MappedFile& mapped);

}  // namespace sojourn::coarse
