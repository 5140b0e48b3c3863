// Notices that a process executes other files than it did: a library was loaded or unloaded, or it
// became another program. A look reads /proc/PID/maps once. One thread owns a CodeWatch.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "userspace/tracee/process.h"

namespace sojourn::tracee {

class CodeWatch {
 public:
  // Whether there is code of a file that was not there at the look before; at the first look there
  // is. A process that cannot be looked into has none. Looking before the files are read misses
  // nothing that comes while they are.
  bool has_more(const Process& process);

 private:
  // Of files, by device and inode, and where each begins: an unloaded library may come back.
  std::set<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>> known_;
};

}  // namespace sojourn::tracee
