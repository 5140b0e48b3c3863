#include "analysis/differential/clock_bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sojourn::differential {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A piece of fewer is no clock that was stepped twice, but packets that were matched wrongly.
constexpr std::size_t kMinOfPiece = 4;

// The longest stretch from `first` on, or from there back, that lines are left for.
std::size_t fill(ClockLines& lines, std::span<const Sighting> sightings, std::size_t first) {
  std::size_t at = first;
  while (at < sightings.size() && lines.add(sightings[at])) ++at;
  return at;
}

}  // namespace

ClockLines::ClockLines(Bounds drift) : drift_(drift) {}

// Adds a point to a convex hull. `sign` is 1 for the lower hull and -1 for the upper one.
void ClockLines::extend(Hull& hull, Point point, double sign) {
  const auto turns_wrong = [&] {
    const Point& last = hull.back();
    const Point& before = hull[hull.size() - 2];
    const double cross =
        (last.x - before.x) * (point.y - before.y) - (last.y - before.y) * (point.x - before.x);
    return sign * cross <= 0;
  };
  if (!hull.empty() && hull.back().x == point.x) {
    if (sign * point.y >= sign * hull.back().y) return;
    hull.pop_back();
  }
  while (hull.size() >= 2 && turns_wrong()) hull.pop_back();
  hull.push_back(point);
}

bool ClockLines::add(const Sighting& sighting) {
  const Point point = {.x = sighting.ours, .y = sighting.theirs};
  const Hull& others = sighting.is_from_us ? below_ : above_;
  Bounds drift = drift_;
  for (const Point& other : others) {
    const double dx = point.x - other.x;
    const double dy = point.y - other.y;
    // Every line passes between the two.
    if (dx == 0) {
      if (sighting.is_from_us ? dy < 0 : dy > 0) return false;
      continue;
    }
    const double slope = dy / dx;
    if (sighting.is_from_us == (dx > 0))
      drift.high = std::min(drift.high, slope);
    else
      drift.low = std::max(drift.low, slope);
  }
  if (drift.low > drift.high) return false;
  drift_ = drift;
  extend(sighting.is_from_us ? above_ : below_, point, sighting.is_from_us ? 1 : -1);
  ++count_;
  return true;
}

double ClockLines::slope_at(const Hull& hull, double x, double before, double after) {
  if (x < hull.front().x) return before;
  if (x >= hull.back().x) return after;
  const auto next = std::ranges::upper_bound(hull, x, {}, &Point::x);
  const Point& from = *std::prev(next);
  return (next->y - from.y) / (next->x - from.x);
}

// The highest line at `ours` touches a packet from us. Its height is concave in its slope, so the
// best slope is that of the hull there, or the nearest that other packets allow.
Bounds ClockLines::at(double ours) const {
  Bounds bounds;
  if (!above_.empty()) {
    const double slope =
        std::clamp(slope_at(above_, ours, -kInfinity, kInfinity), drift_.low, drift_.high);
    if (std::isfinite(slope))
      for (const Point& point : above_)
        bounds.high = std::min(bounds.high, point.y + slope * (ours - point.x));
  }
  if (!below_.empty()) {
    const double slope =
        std::clamp(slope_at(below_, ours, kInfinity, -kInfinity), drift_.low, drift_.high);
    if (std::isfinite(slope))
      for (const Point& point : below_)
        bounds.low = std::max(bounds.low, point.y + slope * (ours - point.x));
  }
  return bounds;
}

ClockMap ClockMap::of(std::vector<Sighting> sightings, Bounds drift) {
  std::ranges::stable_sort(sightings, {}, &Sighting::ours);
  ClockMap map;
  for (std::size_t first = 0; first < sightings.size();) {
    ClockLines lines(drift);
    const std::size_t end = fill(lines, sightings, first);
    if (end - first < kMinOfPiece && end < sightings.size()) {
      ++map.stray_;
      ++first;
      continue;
    }
    map.pieces_.push_back({.from = sightings[first].ours,
                           .until = sightings[end - 1].ours,
                           .lines = std::move(lines)});
    first = end;
  }
  // A step is seen by the first packet of the direction that it contradicts, which may come late:
  // the piece behind it is followed back as far as it may reach.
  for (std::size_t at = 1; at < map.pieces_.size(); ++at) {
    ClockPiece& piece = map.pieces_[at];
    std::vector<Sighting> back;
    for (auto it = sightings.rbegin(); it != sightings.rend(); ++it)
      if (it->ours <= piece.until && it->ours >= map.pieces_[at - 1].from) back.push_back(*it);
    std::ranges::for_each(back, [](Sighting& each) { each.ours = -each.ours; });
    ClockLines mirrored({.low = -drift.high, .high = -drift.low});
    const std::size_t end = fill(mirrored, back, 0);
    if (end > 0) piece.from = std::min(piece.from, -back[end - 1].ours);
  }
  return map;
}

Bounds ClockMap::at(double ours) const {
  if (pieces_.empty()) return {};
  std::optional<Bounds> bounds;
  for (const ClockPiece& piece : pieces_) {
    if (ours < piece.from || ours > piece.until) continue;
    const Bounds of_piece = piece.lines.at(ours);
    if (!bounds)
      bounds = of_piece;
    else
      bounds = Bounds{.low = std::min(bounds->low, of_piece.low),
                      .high = std::max(bounds->high, of_piece.high)};
  }
  if (bounds) return *bounds;
  // Between two pieces, or outside of all: the nearest one's line goes on.
  const auto distance = [&](const ClockPiece& piece) {
    return ours < piece.from ? piece.from - ours : ours - piece.until;
  };
  return std::ranges::min_element(pieces_, {}, distance)->lines.at(ours);
}

Bounds ClockMap::ours_at(double theirs) const {
  if (pieces_.empty()) return {};
  const ClockPiece* best = &pieces_.front();
  double nearest = kInfinity;
  for (const ClockPiece& piece : pieces_) {
    const double from = piece.lines.at(piece.from).middle();
    const double until = piece.lines.at(piece.until).middle();
    const double distance = theirs < from ? from - theirs : std::max(theirs - until, 0.0);
    if (distance < nearest) {
      nearest = distance;
      best = &piece;
    }
  }
  // Lines only rise: at(x).low <= theirs <= at(x).high is a span of our clock.
  const auto solve = [&](auto side) {
    double low = best->from - 1;
    double high = best->until + 1;
    while (side(best->lines.at(low)) > theirs && std::isfinite(low)) low -= high - low;
    while (side(best->lines.at(high)) < theirs && std::isfinite(high)) high += high - low;
    for (unsigned step = 0; step < 200 && low < high; ++step) {
      const double middle = low + (high - low) / 2;
      if (middle == low || middle == high) break;
      (side(best->lines.at(middle)) < theirs ? low : high) = middle;
    }
    return low;
  };
  const Bounds ends = best->lines.at(best->from);
  if (!std::isfinite(ends.low) || !std::isfinite(ends.high)) return {};
  return {.low = solve([](const Bounds& bounds) { return bounds.high; }),
          .high = solve([](const Bounds& bounds) { return bounds.low; })};
}

}  // namespace sojourn::differential
