// The symbol table that some distributions pack into stripped files (.gnu_debugdata, an ELF file in
// xz): the functions that the file does not export. It is unpacked into memory. A forged file may
// unpack without end, so this is to be done in a child with bounded time and memory. No state.
#pragma once

#include <optional>

#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

// Nothing if the file has none, or if it cannot be unpacked.
std::optional<tracee::ElfFile> unpack_mini_debug(const tracee::ElfFile& file);

}  // namespace sojourn::coarse
