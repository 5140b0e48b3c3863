// Searches all processes of the machine: which of them have points, and which run a program with
// one of the given names. For each process its executable's name and its mappings are read, for
// each file that any of them executes the section headers (point_count.h).
//
// Reading may hang if a file system or a process does. So a forked child searches, and the caller
// waits for a limited time and takes the results so far. To be called while this process has one
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
  // The name of the executable's file. For a process that is closed to this user it is the kernel's
  // name, which has at most 15 characters.
  std::string name = {};
  bool is_closed = false;  // this user may not read its mappings
  std::size_t points = 0;
  bool has_more_points = false;  // than those that were counted
  std::string library = {};      // with points, if the program itself has none
};

struct RunningPrograms {
  std::vector<RunningProgram> found;  // by process id
  std::size_t looked_at = 0;
  std::size_t closed = 0;     // processes that this user may not look into
  bool hides_others = false;  // /proc does not show other users' processes
  bool is_in_time = true;     // false: not all processes were looked at
};

// Finds programs with points, and programs of the given names without.
Result<RunningPrograms> find_running_programs(const std::string& proc,
                                              const std::vector<std::string>& names,
                                              std::chrono::milliseconds timeout);

// Returns whether the program may have this name, which is not fully known for a closed process.
bool may_be_named(const RunningProgram& program, std::string_view name);

}  // namespace sojourn::tracee
