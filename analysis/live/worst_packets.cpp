#include "analysis/live/worst_packets.h"

#include <algorithm>

namespace sojourn::live {

namespace {

bool is_slower(const causes::Verdict& left, const causes::Verdict& right) {
  return left.latency_ns() != right.latency_ns() ? left.latency_ns() > right.latency_ns()
                                                 : left.journey < right.journey;
}

}  // namespace

WorstPackets::WorstPackets(std::size_t of_each_second, std::size_t window_s)
    : most_(std::max<std::size_t>(of_each_second, 1)),
      limits_(most_),
      seconds_(std::max<std::size_t>(window_s, 1)) {}

void WorstPackets::add(std::uint64_t second, const causes::Verdict& verdict) {
  if (second > now_) advance(second);
  if (second + seconds_.size() <= now_) return;
  auto& kept = seconds_[second % seconds_.size()];
  // Both directions.
  if (kept.size() == 2 * most_) {
    if (!is_slower(verdict, kept.back())) return;
    kept.pop_back();
  }
  kept.insert(std::ranges::upper_bound(kept, verdict, is_slower), verdict);
}

void WorstPackets::advance(std::uint64_t second) {
  if (second <= now_) return;
  const std::uint64_t steps = std::min<std::uint64_t>(second - now_, seconds_.size());
  now_ = second;
  for (std::uint64_t step = 0; step < steps; ++step)
    seconds_[(second - step) % seconds_.size()].clear();
  limits_.clear();
}

void WorstPackets::clear() {
  for (auto& one : seconds_) one.clear();
  limits_.clear();
}

std::vector<causes::Verdict> WorstPackets::slowest(std::size_t most) const {
  std::vector<const causes::Verdict*> all;
  for (const auto& second : seconds_)
    for (const auto& verdict : second) all.push_back(&verdict);
  std::ranges::sort(all,
                    [](const auto* left, const auto* right) { return is_slower(*left, *right); });
  if (all.size() > most) all.resize(most);
  std::vector<causes::Verdict> slowest;
  slowest.reserve(all.size());
  for (const auto* one : all) slowest.push_back(*one);
  return slowest;
}

}  // namespace sojourn::live
