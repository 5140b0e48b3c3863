// The functions and lines behind addresses of a file: from its symbol table, and from its debug
// information where it has any. Of a function that has no name, where it begins: from the table for
// unwinding, which stripped files have, too.
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

// Fills in the calls of frames, whose addresses are as the file counts. What is not known stays
// empty. A forged file may take any time and memory, or end the process.
void name_frames(const tracee::ElfFile& file, Lines lines, std::span<model::Frame> frames);

// The same in a child of its own, with bounded processor time and memory; without lines where the
// child did not come to an end with them. The error says why even that came to nothing.
Result<void> name_frames_in_child(
    const tracee::ElfFile& file, std::vector<model::Frame>& frames,
    std::chrono::milliseconds processor_time = std::chrono::seconds(30));

}  // namespace sojourn::symbols
