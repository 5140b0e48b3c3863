// What a running capture says of its points: hit so often that it hurts, or never.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/journeys/rules.h"
#include "userspace/base/clock.h"
#include "userspace/base/words.h"
#include "userspace/capture/capture_state.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kFirstLookNs = 300'000'000;
constexpr std::uint64_t kPeriodNs = 1'000'000'000;

// Whoever has so many hot points has read enough of them.
constexpr std::size_t kMostHotLines = 8;

}  // namespace

// Everything that was hit, kept or not.
Result<std::vector<std::uint64_t>> Capture::State::hits_by_point() {
  flush();
  std::vector<std::uint64_t> hits = sink->events_by_point();
  SJ_TRY(not_kept, losses());
  for (const model::LedgerEntry& entry : not_kept)
    if (entry.point < hits.size()) hits[entry.point] += entry.count;
  return hits;
}

std::vector<WatchedPoint> Capture::State::watched_points() const {
  std::vector<WatchedPoint> watched;
  const auto& points = output->schema().points;
  for (std::size_t point = 0; point < points.size(); ++point) {
    const model::Direction direction = points[point].direction;
    const bool may_be_shed =
        direction == model::Direction::kDownlink || direction == model::Direction::kUplink;
    watched.push_back({.hit_ps = point < about.hit_cost_ps.size() ? about.hit_cost_ps[point] : 0,
                       .is_targets = is_of_target(direction),
                       .may_be_silent = journeys::Rules::sounds_like_drop(points[point].dest),
                       .is_hot_news = !budget || !may_be_shed});
  }
  return watched;
}

std::vector<std::string> Capture::State::point_names(
    const std::vector<model::PointId>& points) const {
  std::vector<std::string> names;
  names.reserve(points.size());
  for (const model::PointId point : points) names.push_back(output->schema().points[point].name());
  return names;
}

void Capture::State::tell_hot(const std::vector<HitWatch::Hot>& hot, const Listener& listener) {
  for (const HitWatch::Hot& one : hot) {
    if (hot_told == kMostHotLines) return;
    const std::string name = output->schema().points[one.point].name();
    listener.say(fmt::format(
        "{} is hit {} times a second, which takes {:.0f} % of the target's CPU: {}--points '!{}' "
        "leaves it out{}",
        name, base::grouped(static_cast<std::uint64_t>(std::llround(one.hits_a_second))),
        100 * one.share,
        budget ? "" : "--budget 5 switches such points off while they are so dear, ", name,
        ++hot_told == kMostHotLines ? "; more of these are not told" : ""));
  }
}

Result<void> Capture::State::poll_hits(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!is_open() || !is_alive() || coverage.sites == 0) return {};
  if (!hit_watch) {
    hit_watch.emplace(about.open_ns);
    next_hits_ns = now_ns;
  }
  if (now_ns < next_hits_ns) return {};
  next_hits_ns = now_ns + (now_ns < about.open_ns + kFirstLookNs ? kFirstLookNs : kPeriodNs);
  SJ_TRY(hits, hits_by_point());
  const HitWatch::News news = hit_watch->look(now_ns, watched_points(), hits, target_cpu_ns());
  tell_hot(news.hot, listener);
  if (coverage.uncovered_points != 0 || (news.silent.empty() && !news.none_was_hit)) return {};
  const std::vector<model::PointId> silent = without_switched(news.silent);
  const bool are_all_on = silent.size() == news.silent.size();
  if (news.none_was_hit && are_all_on)
    listener.say("no point was hit so far: is there traffic?");
  else if (!silent.empty())
    listener.say("not hit so far: " + silent_words(point_names(silent), options.find != nullptr));
  return {};
}

// Who has switched a point off knows why it is not hit.
std::vector<model::PointId> Capture::State::without_switched(
    std::vector<model::PointId> points) const {
  if (points.empty()) return points;
  const std::set<model::PointId> switched = switched_points();
  std::erase_if(points, [&](model::PointId point) { return switched.contains(point); });
  return points;
}

// Points that nobody records are told of apart.
Result<std::vector<std::string>> Capture::State::never_hit() {
  std::vector<model::PointId> silent;
  if (coverage.uncovered_points != 0) return point_names(silent);
  SJ_TRY(hits, hits_by_point());
  const std::vector<WatchedPoint> points = watched_points();
  for (std::size_t point = 0; point < std::min(points.size(), hits.size()); ++point)
    if (points[point].is_targets && !points[point].may_be_silent && hits[point] == 0)
      silent.push_back(static_cast<model::PointId>(point));
  return point_names(without_switched(std::move(silent)));
}

}  // namespace sojourn::capture
