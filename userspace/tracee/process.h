// The process to be traced. A Process pins it by pidfd, so that a reused pid is never mistaken for
// it: data from /proc/PID counts only if the process was still alive after it was read.
// Its name and executable are read once, when it is opened. One thread owns a Process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/base/fd.h"

namespace sojourn::tracee {

class Process {
 public:
  // Fails, with advice, for: no such process, a thread's id, a kernel thread, a process that has
  // exited, one that this user may not look into.
  static Result<Process> open(pid_t pid);

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the process has exited
  bool alive() const;
  bool stopped() const;  // by a signal such as SIGSTOP, or by a debugger

  const std::string& comm() const { return comm_; }
  const std::string& exe() const { return exe_; }  // in the target's mount namespace
  const std::vector<std::string>& cmdline() const { return cmdline_; }
  pid_t namespace_pid() const { return namespace_pid_; }          // its getpid()
  std::uint64_t start_time_ns() const { return start_time_ns_; }  // since boot

  // User and system time of all its threads so far, in the kernel's ticks of 10 ms.
  Result<std::uint64_t> cpu_time_ns() const;

  // The description for a trace; the build id is read from the executable.
  Result<model::Target> describe() const;

  // "/proc/PID/name"
  std::string proc(std::string_view name) const;

  // "4242 (nr-softmodem)"
  std::string title() const;

  // `error`, or, if the process has exited, an error that says so.
  Error explain(Error error) const;
  Error no_rights() const;

 private:
  Process() = default;
  Result<void> read_identity(const std::string& status);

  base::Fd pidfd_;
  pid_t pid_ = 0;
  pid_t namespace_pid_ = 0;
  std::uint64_t start_time_ns_ = 0;
  std::string comm_;
  std::string exe_;
  std::vector<std::string> cmdline_;
};

}  // namespace sojourn::tracee
