// The file that a stripped program's debug information was moved to, if it is on this machine or in
// the target's root: by build id under /usr/lib/debug, or by the name that the program has for it.
// Only one of the same build id is taken. No state.
#pragma once

#include <optional>

#include "userspace/target/elf_file.h"
#include "userspace/target/target.h"

namespace sojourn::coarse {

std::optional<target::ElfFile> find_debug_file(const target::ElfFile& file,
                                               const target::MappedFile& mapped);

}  // namespace sojourn::coarse
