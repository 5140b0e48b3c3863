// The planted fault of a preempting neighbour: a thread that is pinned to the CPU of one stage's
// thread, has precedence over it, and burns that CPU for some time in every period. Each time is a
// record of the truth. It takes precedence by SCHED_FIFO; where that is not permitted it competes
// as an equal, says so once on stderr, and in every record.
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/basestation/context.h"

namespace sojourn::basestation {

class Neighbour {
 public:
  Neighbour(Context context, const Preempt& preempt) : context_(context), preempt_(preempt) {}

  const Preempt& preempt() const { return preempt_; }

  // Called by the stage's thread before run(): pins it to its present CPU.
  void pin_victim();
  void run();

 private:
  Context context_;
  const Preempt preempt_;
  std::atomic<std::uint32_t> victim_tid_ = 0;
  std::atomic<int> cpu_ = 0;
};

}  // namespace sojourn::basestation
