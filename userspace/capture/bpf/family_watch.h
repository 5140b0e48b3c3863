// Learns which children the recorded processes fork, and when those become other programs. BTF
// tracepoints (bpf/follow.bpf.c) report every fork, with its time, before the child has run.
// Without rights to eBPF, or in another PID namespace than the kernel's, /proc is polled: then a
// child that lives shorter than a poll takes may be missed. One thread owns a FamilyWatch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::capture {

struct FamilyEvent {
  enum class Kind : std::uint8_t { kForked, kBecameOther, kEnded };

  Kind kind = Kind::kForked;
  pid_t pid = 0;
  pid_t parent = 0;         // of a fork
  std::uint64_t ts_ns = 0;  // not before this
};

class FamilyWatch {
 public:
  static Result<FamilyWatch> start();
  FamilyWatch(FamilyWatch&&) noexcept;
  FamilyWatch& operator=(FamilyWatch&&) noexcept;
  ~FamilyWatch();

  // Empty: every fork is reported.
  const std::string& why_only_looks() const;

  // Watches a process. Children of its children are watched without being added.
  Result<void> add(pid_t pid);
  void remove(pid_t pid);

  int fd()
      const;  // readable: take() has events; -1: there is no such descriptor, as /proc is polled

  // Returns the events since the last call, in the order of time.
  std::vector<FamilyEvent> take();
  std::uint64_t lost() const;  // events that found no room, and will not be reported

 private:
  struct State;
  explicit FamilyWatch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
