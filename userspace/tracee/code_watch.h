// Notices that a process executes other files than before: a library was loaded or unloaded, or it
// became another program. Each look reads /proc/PID/maps once. One thread owns a CodeWatch.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "userspace/tracee/process.h"

namespace sojourn::tracee {

class CodeWatch {
 public:
  // Returns whether the process has code of a file that was not there at the last look; true at the
  // first look, false if the process cannot be read. If it is called before the files are read,
  // code that is loaded meanwhile is found by the next look.
  bool has_more(const Process& process);

 private:
  // Files by device and inode, with their addresses: an unloaded library may be loaded again.
  std::set<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>> known_;
};

}  // namespace sojourn::tracee
