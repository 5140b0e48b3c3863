// The names behind the numbers of a capture's context, each written to the trace once: interrupts,
// system calls, and threads (the target's own and those that they met), of which the capture knows
// some already. One thread owns it.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>

#include "analysis/model/context_info.h"
#include "userspace/capture/context/context_programs.h"
#include "userspace/capture/output/thread_names.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class ContextNames {
 public:
  // The names that are known before the first event: the target's threads and their states, and the
  // interrupts of this machine.
  model::Context initial(const tracee::Process& process, const ContextPrograms& programs,
                         ThreadNames& threads);

  // The names that hits have used since the call before.
  model::Context news(ContextPrograms& programs, ThreadNames& threads);

 private:
  std::bitset<SJ_MAX_SYSCALLS> syscalls_;
};

// "futex"; "syscall 999" where this build knows none.
std::string syscall_name(std::uint32_t number);

}  // namespace sojourn::capture
