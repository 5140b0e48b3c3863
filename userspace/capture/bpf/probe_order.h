// The order to a probe keeper: which sites of which process to attach, and how to record their
// hits. It is sent to that process as bytes and is checked there, because the sender has given up
// the rights for it. Plain data.
#pragma once

#include <cstddef>
#include <optional>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/message.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct ProbeOrder {
  pid_t pid = 0;
  std::optional<Mechanism> mechanism;  // unset: the best that the kernel has
  std::size_t ring_bytes = 0;
  std::size_t objects = 1;
  PointTests keep;
  tracee::Points points;  // of it: sites and their files
};

base::Packer pack(const ProbeOrder& order);

// Fails if the bytes are no order.
Result<ProbeOrder> unpack_probe_order(base::Unpacker& words);

}  // namespace sojourn::capture
