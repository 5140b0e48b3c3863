// A quick look at all processes of the machine: which of them have points, and which run a program
// of one of the given names. For each process its executable's name and its mappings are read, for
// each file that any of them executes the section headers (point_count.h).
//
// Looking may hang where a file system or a process does. So it is done in a forked child, and who
// asked waits for a limited time and keeps what was found by then. While this process has one
// thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::tracee {

// Names are cut at 255 bytes and may hold anything.
struct RunningProgram {
  pid_t pid = 0;
  // Of the executable's file. Of a process that is closed to this user the kernel's name, of which
  // there are 15 characters.
  std::string name = {};
  bool is_closed = false;  // its files may not be looked at
  std::size_t points = 0;
  bool has_more_points = false;  // than those that were counted
  std::string library = {};      // that has them, where the program itself has none
};

struct RunningPrograms {
  std::vector<RunningProgram> found;  // by process id
  std::size_t looked_at = 0;
  std::size_t closed = 0;     // that this user may not look into
  bool hides_others = false;  // /proc does not show other users' processes
  bool is_in_time = true;     // else not all were looked at
};

// Those that have points, and those of the given names that have none.
Result<RunningPrograms> find_running_programs(const std::string& proc,
                                              const std::vector<std::string>& names,
                                              std::chrono::milliseconds timeout);

// Of a closed process not all of the name may be known.
bool may_be_named(const RunningProgram& program, std::string_view name);

}  // namespace sojourn::tracee
