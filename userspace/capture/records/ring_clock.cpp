#include "userspace/capture/records/ring_clock.h"

#include <algorithm>

#include <sched.h>

#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kFirstInterval = 10'000'000;
constexpr std::uint64_t kMaxInterval = 1'000'000'000;

// Enough lines for stamps that waited in rings for seconds, because the collector was stalled.
constexpr std::size_t kLines = 64;

using Line = RingClock::Line;

std::uint64_t slope(double ns, double ticks) {
  return static_cast<std::uint64_t>(ns / ticks * static_cast<double>(1ULL << Line::kShift));
}

}  // namespace

CounterPair read_counter_pair() {
  CounterPair best{.error_ns = UINT64_MAX};
  for (int attempt = 0; attempt < 9; ++attempt) {
    const int cpu = sched_getcpu();
    const std::uint64_t before = base::monotonic_ns();
    const std::uint64_t ticks = read_cycle_counter();
    const std::uint64_t span = base::monotonic_ns() - before;
    if (span / 2 < best.error_ns)
      best = {ticks, before + span / 2, span / 2, sched_getcpu() == cpu ? cpu : -1};
  }
  return best;
}

RingClock::RingClock(const CounterPair& first, const CounterPair& second)
    : last_(second),
      interval_ns_(kFirstInterval),
      next_pair_ns_(second.ns + kFirstInterval),
      largest_error_ns_(std::max(first.error_ns, second.error_ns)) {
  const auto ns = static_cast<double>(second.ns - first.ns);
  const auto ticks = static_cast<double>(std::max<std::uint64_t>(second.ticks - first.ticks, 1));
  lines_.push_back(
      {.from_ticks = second.ticks, .from_ns = second.ns, .ns_per_tick = slope(ns, ticks)});
}

void RingClock::add(const CounterPair& pair) {
  if (pair.ticks <= last_.ticks || pair.ns <= last_.ns) return;
  const std::uint64_t converted = lines_.back().to_ns(pair.ticks);
  const auto off = static_cast<double>(pair.ns) - static_cast<double>(converted);
  const auto off_ns = static_cast<std::uint64_t>(off < 0 ? -off : off);
  largest_error_ns_ = std::max(largest_error_ns_, off_ns + pair.error_ns);

  interval_ns_ = std::min(interval_ns_ * 2, kMaxInterval);
  next_pair_ns_ = pair.ns + interval_ns_;
  const double ns = static_cast<double>(pair.ns - last_.ns);
  const double ns_per_tick = ns / static_cast<double>(pair.ticks - last_.ticks);
  // The line meets the clock when the next pair is due. It never goes backwards.
  const auto until_next = static_cast<double>(interval_ns_);
  const double slewed = std::clamp((until_next + off) / until_next, 0.5, 2.0) * ns_per_tick;
  lines_.back().until_ticks = pair.ticks;
  lines_.push_back(
      {.from_ticks = pair.ticks, .from_ns = converted, .ns_per_tick = slope(slewed, 1)});
  if (lines_.size() > kLines) lines_.pop_front();
  last_ = pair;
}

const Line& RingClock::line_at(std::uint64_t ticks) const {
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
    if (ticks >= line->from_ticks) return *line;
  return lines_.front();
}

std::uint64_t RingClock::to_ticks(std::uint64_t ns) const {
  const Line& line = lines_.back();
  const double span = static_cast<double>(static_cast<std::int64_t>(ns - line.from_ns)) *
                      static_cast<double>(1ULL << Line::kShift) /
                      static_cast<double>(line.ns_per_tick);
  return line.from_ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(span));
}

}  // namespace sojourn::capture
