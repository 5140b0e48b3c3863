// The process that holds a capture's probes. A process that is being killed cannot remove probes:
// with a SIGKILL pending the kernel gives up on the target's page ("failed to unregister, leaking
// uprobe", Linux 6.18), in the middle of attaching as well as of detaching, and breakpoints stay in
// the target for good. So a separate process loads the programs, places the probes and removes
// them. When the tracer has ended, in whatever way, it removes the probes and ends. The privileged
// helper starts it if there is one, else the tracer itself. One thread owns a ProbeKeeper.
#pragma once

#include <optional>
#include <span>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/capture/bpf/probe_order.h"

namespace sojourn::capture {

class ProbeKeeper {
 public:
  // Returns once the programs are loaded.
  static Result<ProbeKeeper> start(const ProbeOrder& order);
  ProbeKeeper(ProbeKeeper&& other) noexcept;
  ProbeKeeper& operator=(ProbeKeeper&& other) noexcept;
  ~ProbeKeeper();  // returns once no probe is left

  BpfPrograms take_programs() { return *std::exchange(programs_, std::nullopt); }

  // Returns false if it was killed, so that its probes are gone.
  bool is_alive() const { return base::has_other_end(connection_.get()); }

  // Returns once all probes are placed.
  Result<void> arm();

  // Like Attachment::remove() and add().
  Result<void> remove(std::span<const model::PointId> points);
  Result<void> add(std::span<const model::PointId> points);

 private:
  ProbeKeeper(base::Fd connection, pid_t child)
      : connection_(std::move(connection)), child_(child) {}

  base::Fd connection_;
  pid_t child_ = -1;  // if it is this process's own child
  std::optional<BpfPrograms> programs_;
};

// The other end: runs in a process that was forked for it, and ends that process.
[[noreturn]] void hold_probes(base::Fd connection, const ProbeOrder& order);

}  // namespace sojourn::capture
