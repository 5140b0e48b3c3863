#include "userspace/capture/progress_reporter.h"

#include <algorithm>
#include <chrono>

#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kProgressPeriodNs = 1'000'000'000;

}  // namespace

void ProgressReporter::on_open(std::uint64_t open_ns) {
  next_ns_ = open_ns + kProgressPeriodNs;
  next_flush_ns_ = open_ns + flush_period_ns_;
}

Result<void> ProgressReporter::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (now_ns >= next_flush_ns_) {
    next_flush_ns_ = std::max(next_flush_ns_ + flush_period_ns_, now_ns);
    pump_->flush();
  }
  if (now_ns < next_ns_) return {};
  next_ns_ += kProgressPeriodNs;
  processes_->cpu_ns();  // a process that has ended has no CPU times any more
  SJ_TRY(losses, pump_->losses());
  Sink& sink = output_->sink();
  sink.push(base::read_clock_pair());
  sink.push(losses);
  record_->write_unarmed(sink);
  processes_->name_threads(*output_, ThreadNames::Look::kNew);
  lost_ = not_kept(losses).lost;
  listener.progress({.elapsed = std::chrono::nanoseconds(now_ns - record_->open_ns()),
                     .events = pump_->events(),
                     .lost = lost_,
                     .bytes = sink.bytes()});
  return {};
}

}  // namespace sojourn::capture
