#include "analysis/differential/host_clock.h"

#include <algorithm>
#include <cmath>

namespace sojourn::differential {
namespace {

Bounds inverse(Bounds of) {
  return {.low = 1 / of.high, .high = 1 / of.low};
}

Bounds product(Bounds one, Bounds other) {
  return {.low = one.low * other.low, .high = one.high * other.high};
}

}  // namespace

double HostClock::widest_half() const {
  double widest = 0;
  for (const Knot& knot : knots) widest = std::max(widest, knot.half);
  return widest;
}

double HostClock::rate_error() const {
  double off = 0;
  for (std::size_t at = 1; at < knots.size(); ++at) {
    const double span = knots[at].theirs - knots[at - 1].theirs;
    if (span <= 0) continue;
    const double here = (knots[at].ours - knots[at - 1].ours) / span;
    off += span * std::max(std::abs(here - rate.low), std::abs(here - rate.high));
  }
  return off == 0 ? 0 : off / (knots.back().theirs - knots.front().theirs);
}

void HostClock::set_speeds(const ClockMap& map, bool is_theirs, const HostClock* by) {
  Bounds all = map.pieces().front().lines.drift();
  drift = is_theirs ? all : inverse(all);
  for (const ClockPiece& piece : map.pieces()) {
    all.low = std::min(all.low, piece.lines.drift().low);
    all.high = std::max(all.high, piece.lines.drift().high);
  }
  rate = is_theirs ? inverse(all) : all;
  if (by == nullptr) return;
  drift = product(drift, by->drift);
  rate = product(rate, by->rate);
}

void HostClock::widen_at_steps() {
  const auto before = knots;
  for (std::size_t at = 1; at < before.size(); ++at) {
    const double span = before[at].theirs - before[at - 1].theirs;
    const double passed = before[at].ours - before[at - 1].ours;
    const double half = before[at].half + before[at - 1].half;
    if (passed >= span * rate.low - half && passed <= span * rate.high + half) continue;
    const double step = std::abs(passed - span * rate.middle());
    for (Knot* const knot : {&knots[at - 1], &knots[at]})
      knot->half = std::max(knot->half, step + half);
  }
}

}  // namespace sojourn::differential
