// Finds the functions and lines behind addresses of a file: from its symbol table, and from its
// debug information if it has any. For a function without a name it finds the beginning, from the
// unwind table, which stripped files have as well.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/profile_info.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::symbols {

enum class Lines : std::uint8_t { kNo, kWhereKnown };

// Fills in the calls of frames, whose addresses are ELF addresses. Unknown ones stay empty. A
// forged file may take any time and memory, or end the process.
void name_frames(const tracee::ElfFile& file, Lines lines, std::span<model::Frame> frames);

// Names frames in a bounded child process, without lines if the child did not finish with them. The
// error says why even that failed.
Result<void> name_frames_in_child(
    const tracee::ElfFile& file, std::vector<model::Frame>& frames,
    std::chrono::milliseconds processor_time = std::chrono::seconds(30));

}  // namespace sojourn::symbols
