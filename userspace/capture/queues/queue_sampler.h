// Samples the counters of the target's queues, from a thread of its own that reads the target's
// shared memory: no code runs in the target. Between the marks every queue has a row for each
// change that was seen (queue_pass.h), all changes of its name or place are recorded
// (queue_watch.h), and at the end its last counts. Rows are never lost: while the sink is behind
// queues are not read, and their changes meanwhile are in the next row.
//
// The capture's thread owns a QueueSampler, and finds the arenas of libraries that come later. From
// arm() until settle() the sampling thread owns the arenas that it reads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/model/queue_info.h"
#include "userspace/capture/output/source.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

struct QueueSamplerOptions {
  // Adaptive: the period applies to queues that move; others are read more rarely.
  // Busy: there is no period, the thread never sleeps.
  model::SamplingMode mode = model::SamplingMode::kAdaptive;
  std::chrono::nanoseconds period{1'000'000};
  int cpu = -1;  // -1: any
};

class QueueSampler final : public Source {
 public:
  // A target may register its first queue later. Fails if its memory cannot be read, or if the
  // thread cannot run on the CPU.
  static Result<std::unique_ptr<QueueSampler>> create(const tracee::Process& process,
                                                      const QueueSamplerOptions& options);
  ~QueueSampler() override;

  Result<bool> add_process(const tracee::Process& process) override;
  Result<void> connect(CaptureOutput& output) override;
  Result<void> arm() override;
  void open_at(std::uint64_t monotonic_ns) override;
  void close_at(std::uint64_t monotonic_ns) override;
  Result<void> settle() override;
  Result<bool> poll() override;
  Result<void> settle_so_far() override { return {}; }  // a sample has begun and ended
  void mark() override {}
  bool is_past_mark() const override { return true; }  // its thread pushes by itself
  void flush() override {}  // the thread does, every second and at the end
  std::chrono::microseconds poll_period() const override;
  void disarm() override;
  bool is_armed() const override;
  Result<void> add_losses(model::Ledger&) const override { return {}; }
  Result<void> add_hits(std::vector<std::uint64_t>& hits) const override;
  std::uint64_t events() const override;

 private:
  struct State;
  explicit QueueSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
