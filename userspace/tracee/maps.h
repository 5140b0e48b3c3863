// Parses /proc/PID/maps strictly: a line that is not as in proc(5) is an error that shows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::tracee {

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t device = 0;  // as stat's st_dev
  std::uint64_t inode = 0;   // 0: no file
  bool readable = false;
  bool writable = false;
  bool executable = false;
  // The kernel writes a newline in a name as \012, and a backslash as itself, and appends "
  // (deleted)" to names that may also end like that themselves: only the file shows which case it
  // is (mapped_files.h).
  std::string name;
};

Result<std::vector<Mapping>> parse_maps(std::string_view text);

// The file names that a mapping's `name` may mean, the most literal one first.
std::vector<std::string> possible_names(std::string_view name);

}  // namespace sojourn::tracee
