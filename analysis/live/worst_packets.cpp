#include "analysis/live/worst_packets.h"

#include <algorithm>
#include <functional>

namespace sojourn::live {

namespace {

bool is_slower(const causes::Verdict& left, const causes::Verdict& right) {
  return left.latency_ns() != right.latency_ns() ? left.latency_ns() > right.latency_ns()
                                                 : left.journey < right.journey;
}

}  // namespace

WorstPackets::WorstPackets(std::size_t of_each_second, std::size_t window_s)
    : most_(std::max<std::size_t>(of_each_second, 1)),
      seconds_(std::max<std::size_t>(window_s, 1)) {}

void WorstPackets::note(model::Direction direction, std::uint64_t latency_ns) {
  auto& slowest = direction == model::Direction::kUplink ? up_ns_ : down_ns_;
  if (slowest.size() == most_ && latency_ns <= slowest.front()) return;
  if (slowest.size() == most_) {
    std::ranges::pop_heap(slowest, std::greater<>());
    slowest.pop_back();
  }
  slowest.push_back(latency_ns);
  std::ranges::push_heap(slowest, std::greater<>());
}

causes::Deadlines WorstPackets::deadlines() const {
  const auto of = [this](const std::vector<std::uint64_t>& slowest) {
    return slowest.size() < most_ ? 0 : slowest.front();
  };
  return {.down_ns = of(down_ns_), .up_ns = of(up_ns_)};
}

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
  down_ns_.clear();
  up_ns_.clear();
}

void WorstPackets::clear() {
  for (auto& one : seconds_) one.clear();
  down_ns_.clear();
  up_ns_.clear();
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
