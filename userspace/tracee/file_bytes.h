// Reads files that are hostile until checked: opens regular files only, and reads all bytes or
// none. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::tracee {

// Opens a regular file for reading, and returns its length.
Result<std::uint64_t> open_regular(const std::string& path, base::Fd& file);

// False: the file ends before that, or cannot be read.
bool read_fully(int file, std::uint64_t offset, std::span<std::byte> bytes);

// Returns whether [offset, offset + bytes) lies in [0, size).
constexpr bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

}  // namespace sojourn::tracee
