#include "analysis/xlap/cycle_times.h"

#include <algorithm>

namespace sojourn::xlap {
namespace {

std::uint64_t apart(std::uint64_t left, std::uint64_t right) {
  return left > right ? left - right : right - left;
}

// Spread over the whole time, the first and the last among them.
std::vector<Instant> thinned(const std::vector<Instant>& instants) {
  std::vector<Instant> few;
  for (const Instant& each : instants)
    if (few.empty() || each.unix_ns >= few.back().unix_ns + CycleTimes::kApartNs)
      few.push_back(each);
  if (few.empty() || few.back().cycles == instants.back().cycles) return few;
  if (few.size() > 1) few.pop_back();
  few.push_back(instants.back());
  return few;
}

}  // namespace

CycleTimes::CycleTimes(std::vector<Instant> instants) {
  std::ranges::sort(instants, {}, &Instant::cycles);
  std::vector<Instant> rising;
  for (const Instant& each : instants) {
    if (!rising.empty() && each.unix_ns < rising.back().unix_ns)
      ++odd_;
    else
      rising.push_back(each);
  }
  std::vector<Instant> few;
  for (const Instant& each : thinned(rising))
    if (clock_.add(each.cycles, each.unix_ns)) few.push_back(each);
  for (const Instant& each : few) used_.push_back(each.cycles);
  if (few.size() < 3) return;
  std::uint64_t furthest = 0;
  for (std::size_t at = 1; at + 1 < few.size(); ++at) {
    imports::CycleClock without;
    without.add(few[at - 1].cycles, few[at - 1].unix_ns);
    without.add(few[at + 1].cycles, few[at + 1].unix_ns);
    if (const auto told = without.unix_ns(few[at].cycles))
      furthest = std::max(furthest, apart(*told, few[at].unix_ns));
  }
  bound_ns_ = furthest + kResolutionNs;
}

}  // namespace sojourn::xlap
