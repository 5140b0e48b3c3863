#include "userspace/capture/capture_gate.h"

#include <algorithm>
#include <cerrno>

#include <sys/resource.h>
#include <time.h>

#include "analysis/base/second.h"
#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

std::uint64_t own_cpu_time_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * kNsPerSecond +
           static_cast<std::uint64_t>(time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

void sleep_until(std::uint64_t monotonic) {
  timespec when{.tv_sec = static_cast<time_t>(monotonic / kNsPerSecond),
                .tv_nsec = static_cast<long>(monotonic % kNsPerSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

}  // namespace

Result<void> CaptureGate::open(const std::vector<Ticker*>& tickers) {
  SJ_TRY(open_ns, sources_->open());
  record_->open(open_ns, options_->duration);
  output_->begin(open_ns);
  if (options_->duration) sources_->close_at(record_->end_ns());
  sleep_until(open_ns);
  tracer_cpu_at_open_ns_ = own_cpu_time_ns();
  processes_->begin_cpu_times();
  for (Ticker* ticker : tickers) ticker->on_open(open_ns);
  output_->sink().push(record_->about());
  processes_->name_threads(*output_, ThreadNames::Look::kNew);
  return {};
}

void CaptureGate::close() {
  // A gate that closes by itself at the end of the duration needs no other mark. Otherwise the mark
  // is set farther ahead than this thread ever had to wait for its CPU.
  const std::uint64_t lead =
      std::clamp(2 * record_->about().longest_starved_ns, kGateLeadNs, kNsPerSecond / 4);
  const std::uint64_t close_ns = std::min(record_->end_ns(), base::monotonic_ns() + lead);
  record_->close(close_ns);
  if (close_ns != record_->end_ns()) sources_->close_at(close_ns);
  sleep_until(close_ns);
}

std::uint64_t CaptureGate::tracer_cpu_ns() const {
  return own_cpu_time_ns() - tracer_cpu_at_open_ns_;
}

}  // namespace sojourn::capture
