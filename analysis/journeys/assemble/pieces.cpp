#include "analysis/journeys/assemble/pieces.h"

#include <algorithm>

namespace sojourn::journeys {
namespace {

// No unit goes round a loop of more points.
constexpr int kMaxLoop = 64;
// The number of steps of the point among which an earlier round is searched. Without a limit the
// time would grow with the square of the segments.
constexpr int kFarthest = 256;

}  // namespace

void Pieces::start() {
  for (const auto& seen : seen_) points_[seen.point] = {};
  seen_.clear();
  most_ = 1;
}

void Pieces::add(PointId point, std::uint32_t repeat_of, std::span<const std::uint32_t> parents) {
  const auto step = static_cast<std::uint32_t>(seen_.size());
  auto& here = points_[point];
  Seen seen = {.parents = parents, .piece = step, .previous = here.newest, .point = point};
  for (const auto parent : parents) seen.later |= seen_[parent].later;
  const auto earlier = repeat_of != kNoStep ? repeat_of : came_before(point, parents);
  if (earlier != kNoStep) {
    seen.piece = seen_[earlier].piece;
    seen.later = seen.repeats = true;
  } else if (seen.later) {
    for (const auto parent : parents)
      if (seen_[parent].later && seen.piece == step)
        seen.piece = std::min(step, counterpart(seen, parent));
  }
  here.newest = step;
  seen_.push_back(seen);
  // Blocks in a loop without an input do not count as segments: the point where they entered is not
  // known at first.
  if (seen.piece == step && topology_.points[point].loop == 0)
    most_ = std::max(most_, ++here.pieces);
}

// Points may form a loop: a block that could not be decoded goes back to where its next round is
// waited for. A segment that comes to a point of the loop again is the same segment.
std::uint32_t Pieces::came_before(PointId point, std::span<const std::uint32_t> parents) const {
  if (!topology_.points[point].circles) return kNoStep;
  for (int turn = 0; turn < kMaxLoop && !parents.empty(); ++turn) {
    const auto& before = seen_[parents.front()];
    if (before.point == point) return parents.front();
    parents = before.parents;
  }
  return kNoStep;
}

// Returns the same segment in an earlier round of the parent. The units of a block come in the same
// order in each round, so this is the child at the same position. kNoStep: no earlier round reached
// this point.
std::uint32_t Pieces::counterpart(const Seen& seen, std::uint32_t parent) {
  const auto whole = seen_[parent].piece;
  std::size_t nth = 0;  // children of the parent at the point
  brothers_.clear();
  auto at = seen.previous;
  for (int turn = 0; turn < kFarthest && at != kNoStep; ++turn, at = seen_[at].previous) {
    const auto& other = seen_[at];
    if (other.repeats) continue;
    for (const auto from : other.parents) {
      if (from == parent) ++nth;
      if (seen_[from].piece != whole) continue;
      if (other.piece == at) brothers_.push_back(at);
      break;
    }
  }
  return nth < brothers_.size() ? brothers_[brothers_.size() - 1 - nth] : kNoStep;
}

}  // namespace sojourn::journeys
