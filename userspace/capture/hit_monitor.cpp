#include "userspace/capture/hit_monitor.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "analysis/journeys/rules.h"
#include "userspace/base/clock.h"
#include "userspace/base/count_text.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kFirstLookNs = 300'000'000;
constexpr std::uint64_t kHitPeriodNs = 1'000'000'000;

// More hot points than this are not listed.
constexpr std::size_t kMaxHotLines = 8;

}  // namespace

HitMonitor::HitMonitor(const Options& options, TracedProcesses& processes,
                       const ProcessRecorder& recorder, const CaptureRecord& record,
                       const CaptureOutput& output, EventPump& pump, const PointSwitches& switches)
    : options_(&options),
      processes_(&processes),
      recorder_(&recorder),
      record_(&record),
      output_(&output),
      pump_(&pump),
      switches_(&switches) {}

std::vector<WatchedPoint> HitMonitor::watched_points() const {
  std::vector<WatchedPoint> watched;
  const bool keeps_to_budget =
      options_->budget && (!options_->budget->is_default || recorder_->coverage().bpf_points != 0);
  const auto& points = output_->schema().points;
  for (std::size_t point = 0; point < points.size(); ++point) {
    const model::Direction direction = points[point].direction;
    const bool may_be_shed = direction != model::Direction::kSync;
    watched.push_back({.hit_ps = record_->hit_cost_ps(point),
                       .is_targets = is_of_target(direction),
                       .may_be_silent = journeys::Rules::sounds_like_drop(points[point].dest),
                       .is_hot_news = !keeps_to_budget || !may_be_shed});
  }
  return watched;
}

std::vector<std::string> HitMonitor::names(const std::vector<model::PointId>& points) const {
  std::vector<std::string> names;
  names.reserve(points.size());
  for (const model::PointId point : points) names.push_back(output_->schema().points[point].name());
  return names;
}

void HitMonitor::tell_hot(const std::vector<HitWatch::Hot>& hot, const Listener& listener) {
  for (const HitWatch::Hot& one : hot) {
    if (hot_told_ == kMaxHotLines) return;
    const std::string name = output_->schema().points[one.point].name();
    listener.say(fmt::format(
        "{} is hit {} times a second, which takes {:.0f} % of the target's CPU: {}--points '!{}' "
        "leaves it out{}",
        name, base::grouped(static_cast<std::uint64_t>(std::llround(one.hits_a_second))),
        100 * one.share,
        options_->budget ? "" : "--budget 5 switches such points off while they cost so much, ",
        name, ++hot_told_ == kMaxHotLines ? "; further ones are not reported" : ""));
  }
}

Result<void> HitMonitor::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!record_->is_open() || !processes_->any_alive() || record_->about().sites == 0) return {};
  if (!watch_) {
    watch_.emplace(record_->open_ns());
    next_look_ns_ = now_ns;
  }
  if (now_ns < next_look_ns_) return {};
  const bool is_early = now_ns < record_->open_ns() + kFirstLookNs;
  next_look_ns_ = now_ns + (is_early ? kFirstLookNs : kHitPeriodNs);
  SJ_TRY(hits, pump_->hits_by_point());
  const HitWatch::News news = watch_->look(now_ns, watched_points(), hits, processes_->cpu_ns());
  tell_hot(news.hot, listener);
  tell_silent(news, listener);
  return {};
}

void HitMonitor::tell_silent(const HitWatch::News& news, const Listener& listener) const {
  if (is_any_uncovered() || (news.silent.empty() && !news.none_was_hit)) return;
  const std::vector<model::PointId> silent = without_switched(news.silent);
  const bool are_all_on = silent.size() == news.silent.size();
  if (news.none_was_hit && are_all_on)
    listener.say("no point was hit so far: is there traffic?");
  else if (!silent.empty())
    listener.say("not hit so far: " + silent_points_text(names(silent), options_->find != nullptr));
}

// Leaves out points that were switched off: the user knows why those are not hit.
std::vector<model::PointId> HitMonitor::without_switched(std::vector<model::PointId> points) const {
  if (points.empty()) return points;
  const std::set<model::PointId> switched = switches_->switched_points();
  std::erase_if(points, [&](model::PointId point) { return switched.contains(point); });
  return points;
}

Result<std::vector<model::PointId>> HitMonitor::never_on() {
  SJ_TRY(hits, pump_->hits_by_point());
  std::vector<model::PointId> points;
  for (const model::PointId point : switches_->switched_points())
    if (point < hits.size() && hits[point] == 0) points.push_back(point);
  return points;
}

Result<std::vector<std::string>> HitMonitor::never_hit() {
  if (is_any_uncovered()) return std::vector<std::string>();
  SJ_TRY(hits, pump_->hits_by_point());
  const std::vector<WatchedPoint> points = watched_points();
  std::vector<model::PointId> silent;
  for (std::size_t point = 0; point < std::min(points.size(), hits.size()); ++point)
    if (points[point].is_targets && !points[point].may_be_silent && hits[point] == 0)
      silent.push_back(static_cast<model::PointId>(point));
  return names(without_switched(std::move(silent)));
}

}  // namespace sojourn::capture
