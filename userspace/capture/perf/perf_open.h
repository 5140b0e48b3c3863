// Opens one perf event of one thread, on one CPU or on all. Its samples have the layout that
// perf_record.h reads. The kernel removes the event when the descriptor closes.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "userspace/base/fd.h"
#include "userspace/base/message.h"

namespace sojourn::capture {

struct PerfRequest {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t period = 1;
  bool user_only = false;
  bool has_stacks = false;
  bool with_threads = false;   // records of names and ends of threads
  bool with_mappings = false;  // and of code that is mapped
};

// Packs a request for the privileged helper.
void pack(const PerfRequest& request, base::Packer& words);
PerfRequest unpack_perf_request(base::Unpacker& words);

// `tid` 0: this thread. On one CPU new threads of `tid` inherit the event from their first
// instruction on; on any CPU (-1) they do not. An empty Fd: it failed, errno says why.
// Without the rights, this process's privileged helper opens it; tid 0 is the helper then.
base::Fd open_perf_event(const PerfRequest& request, pid_t tid = 0, int cpu = -1);

struct PerfCount {
  std::uint64_t value = 0;  // of the thread and those that inherited the event
  std::uint64_t lost = 0;   // samples that found no room
};

// False if the kernel does not say (before Linux 6.0).
bool read_perf_count(const base::Fd& event, PerfCount& into);

}  // namespace sojourn::capture
