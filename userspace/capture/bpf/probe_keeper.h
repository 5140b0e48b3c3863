// The process that holds a capture's probes. Who is being killed cannot take probes off: with a
// SIGKILL pending the kernel gives up on the target's page ("failed to unregister, leaking uprobe",
// Linux 6.18), in the middle of attaching as well as of detaching, and breakpoints stay in the
// target for good. So a child of the tracer places and removes them, and when the tracer is gone,
// however it went, takes them off and ends. One thread owns a ProbeKeeper.
#pragma once

#include <span>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/target/target.h"

namespace sojourn::capture {

class ProbeKeeper {
 public:
  // Returns once all probes are placed. The points and programs outlive it.
  static Result<ProbeKeeper> attach(const target::Points& points, pid_t pid, Mechanism mechanism,
                                    const BpfPrograms& programs, Attachment::Links links);
  ProbeKeeper(ProbeKeeper&& other) noexcept;
  ProbeKeeper& operator=(ProbeKeeper&& other) noexcept;
  ~ProbeKeeper();  // returns once no probe is left

  // As of an Attachment.
  Result<void> remove(std::span<const model::PointId> points);
  Result<void> add(std::span<const model::PointId> points);

 private:
  ProbeKeeper(base::Fd socket, pid_t child) : socket_(std::move(socket)), child_(child) {}

  base::Fd socket_;
  pid_t child_ = -1;
};

}  // namespace sojourn::capture
