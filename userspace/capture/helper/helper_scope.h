// The processes that a privileged helper answers requests about: those of one capture, and those
// that join it. The scope is set before rights are given up, and the helper checks for itself
// whether a process that came later belongs to it. One thread owns a HelperScope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/tracee/cgroup.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class HelperScope {
 public:
  struct Limits {
    std::vector<pid_t> processes;
    std::optional<tracee::Cgroup> cgroup = {};  // all processes in it belong to the capture
    bool with_children = false;                 // children of the processes, and theirs
    std::string ring_directory = {};            // of the rings of commands that the capture starts
    bool kernel_names = false;                  // the profile has names of the kernel's functions
  };
  static Result<HelperScope> take(Limits limits);

  // Finds the process, if it belongs to the capture and is alive.
  Result<const tracee::Process*> find(pid_t pid);

  // A path below /proc/PID of a process of the capture: "maps" of "/proc/4242/maps", with the
  // process. A path that leads out of there ("..") is refused.
  struct Place {
    const tracee::Process* process = nullptr;
    std::string_view name;
  };
  Result<Place> find(std::string_view path);

  const Limits& limits() const { return limits_; }

 private:
  explicit HelperScope(Limits limits) : limits_(std::move(limits)) {}
  bool has_come(const tracee::Process& process) const;

  Limits limits_;
  std::vector<tracee::Process> known_;
  // The users of the first processes, by which a child whose parent has ended is recognised.
  std::vector<uid_t> users_;
  std::uint64_t since_ns_ = 0;
};

}  // namespace sojourn::capture
