#include "analysis/live/sliding_times.h"

#include <algorithm>

namespace sojourn::live {

namespace {

constexpr unsigned kWindowSteps = 7;
constexpr unsigned kFineSteps = 10;

}  // namespace

SlidingTimes::SlidingTimes(std::size_t window_s)
    : slots_(std::max<std::size_t>(window_s, 1), TimeHistogram(kWindowSteps)), all_(kFineSteps) {}

void SlidingTimes::add(std::uint64_t second, std::uint64_t value) {
  if (second > now_) advance(second);
  all_.add(value);
  if (second + slots_.size() > now_) slot(second).add(value);
}

void SlidingTimes::advance(std::uint64_t second) {
  // A pause longer than the kept history leaves nothing of it.
  const std::uint64_t most = std::max<std::uint64_t>(kHistory, slots_.size());
  if (second > now_ + most) {
    for (auto& one : slots_) one.clear();
    now_ = second - most;
  }
  while (now_ < second) {
    const TimeHistogram& over = slot(now_);
    history_.push_back(
        {.count = over.count(), .p50_ns = over.quantile(0.5), .p99_ns = over.quantile(0.99)});
    if (history_.size() > kHistory) history_.pop_front();
    slot(++now_).clear();
  }
}

void SlidingTimes::clear() {
  for (auto& one : slots_) one.clear();
  all_.clear();
  history_.clear();
}

TimeHistogram SlidingTimes::window() const {
  TimeHistogram sum(kWindowSteps);
  for (const auto& one : slots_) sum.merge(one);
  return sum;
}

}  // namespace sojourn::live
