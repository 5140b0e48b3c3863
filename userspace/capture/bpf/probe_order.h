// What a probe keeper is asked to attach: which sites of which process, and how their hits are
// recorded. It is sent to that process as bytes, and is checked there: the sender has given up the
// rights that this takes. Plain data.
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
  std::optional<Mechanism> mechanism;  // none: the best that the kernel has
  std::size_t ring_bytes = 0;
  std::size_t objects = 1;
  PointTests keep;
  tracee::Points points;  // of it: sites and their files
};

base::Packer pack(const ProbeOrder& order);

// Fails if the bytes are no order.
Result<ProbeOrder> unpack_probe_order(base::Unpacker& words);

}  // namespace sojourn::capture
