// One perf event of one thread, on one CPU or wherever it runs. Its samples have the shape that
// perf_record.h reads. The kernel takes the event off when the descriptor closes.
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
  bool tells_of_threads = false;   // records of names and ends of threads
  bool tells_of_mappings = false;  // and of code that is mapped
};

// As it crosses to the privileged helper.
void pack(const PerfRequest& request, base::Packer& words);
PerfRequest unpack_perf_request(base::Unpacker& words);

// Of a thread, 0: this one. On one CPU it passes on to the threads that this one makes, from their
// first instruction on; on any (-1) it does not. False as bool where it failed: errno.
// Where this process lacks the rights, its privileged helper opens it, which is what tid 0 then
// means.
base::Fd open_perf_event(const PerfRequest& request, pid_t tid = 0, int cpu = -1);

struct PerfCount {
  std::uint64_t value = 0;  // of the thread and those that it passed on to
  std::uint64_t lost = 0;   // samples that found no room
};

// False where the kernel does not say (before Linux 6.0).
bool read_perf_count(const base::Fd& event, PerfCount& into);

}  // namespace sojourn::capture
