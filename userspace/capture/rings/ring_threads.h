// The threads of a target by the ids in its rings, which are those of its own PID namespace.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "userspace/tracee/process.h"

namespace sojourn::capture {

class RingThreads {
 public:
  explicit RingThreads(const tracee::Process& process) : process_(&process) {}

  // The thread's id here; the given one if that is not known (it has ended, or is a child's).
  std::uint32_t host_tid(std::uint32_t tid);

  // Reads again which threads are alive, for is_alive().
  void refresh();
  bool is_alive(std::uint64_t owner);  // pid << 32 | tid

 private:
  bool is_translated() const { return process_->pid() != process_->namespace_pid(); }
  struct Tasks {
    std::unordered_set<std::uint32_t> tids;
    bool are_known = true;  // else others may be alive as well
  };
  const Tasks& tasks_of(std::uint32_t pid);
  bool read_tasks(const std::string& directory, Tasks& tasks);

  const tracee::Process* process_;
  std::unordered_map<std::uint32_t, Tasks> tasks_;         // by process
  std::unordered_map<std::uint32_t, std::uint32_t> host_;  // only ids that differ
};

}  // namespace sojourn::capture
