// The symbol table that some distributions pack into stripped files (.gnu_debugdata, an ELF file in
// xz): the functions that the file does not export. Unpacked into memory; it is the file's own
// word, and may be forged to unpack without end: to be done where time and memory are bounded. No
// state.
#pragma once

#include <optional>

#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

// None where the file has none, or one that cannot be unpacked.
std::optional<tracee::ElfFile> unpack_mini_debug(const tracee::ElfFile& file);

}  // namespace sojourn::coarse
