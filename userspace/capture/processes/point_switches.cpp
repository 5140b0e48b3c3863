#include "userspace/capture/processes/point_switches.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "analysis/model/pattern.h"
#include "userspace/capture/rings/ring_control.h"

namespace sojourn::capture {

bool switches_points(const Trigger& trigger) {
  return trigger.action == Trigger::Action::kEnable || trigger.action == Trigger::Action::kDisable;
}

Result<void> PointSwitches::check(const Trigger& trigger, const model::Schema& schema) {
  constexpr auto kNothing = "";  // a pattern that no point has
  if (const auto switched = switch_by_pattern(kNothing, true); !switched)
    return fail("--trigger: \"{}\": its points cannot be switched: {}", trigger.words,
                switched.error().text());
  const bool is_any = std::ranges::any_of(schema.points, [&](const auto& point) {
    return model::matches_pattern(point, trigger.points);
  });
  if (!is_any)
    return fail("--trigger: \"{}\": no point matches \"{}\"", trigger.words, trigger.points);
  return {};
}

void PointSwitches::act(const Trigger& trigger, const Listener& listener) {
  const bool on = trigger.action == Trigger::Action::kEnable;
  const auto switched = switch_by_pattern(trigger.points, on);
  if (!switched)
    listener.say(fmt::format("not switched: {} ({})", switched.error().text(), trigger.words));
  else if (*switched != 0)
    listener.say(
        fmt::format("switched {} points {} ({})", *switched, on ? "on" : "off", trigger.words));
}

// Switches points in all targets that have switches. Returns how many it changed.
Result<std::size_t> PointSwitches::switch_by_pattern(const std::string& pattern, bool on) {
  std::size_t changed = 0;
  bool any = false;
  Result<std::size_t> none = fail("no target is left");
  for (const auto& one : processes_->all()) {
    if (one->has_ended()) continue;
    auto switches = RingControl::open(one->process, one->points);
    if (!switches) {
      none = std::unexpected(std::move(switches).error());
      continue;
    }
    const auto switched = switches->switch_points(pattern, on);
    for (const model::PointId point : switched.changed)
      one->was_on.try_emplace(point, !on);  // the state before the first switch
    changed += switched.changed.size();
    any = true;
  }
  return any ? Result<std::size_t>(changed) : none;
}

void PointSwitches::switch_back() {
  for (const auto& one : processes_->all()) {
    if (one->has_ended() || one->was_on.empty()) continue;
    auto switches = RingControl::open(one->process, one->points);
    if (!switches) continue;  // the process is ending
    for (const bool on : {true, false}) {
      std::vector<model::PointId> points;
      for (const auto& [point, was_on] : one->was_on)
        if (was_on == on) points.push_back(point);
      switches->switch_points(points, on);
    }
  }
}

std::set<model::PointId> PointSwitches::switched_points() const {
  std::set<model::PointId> points;
  for (const auto& one : processes_->all()) {
    for (const auto& [point, was_on] : one->was_on) points.insert(point);
    if (one->has_ended()) continue;
    const auto switches = RingControl::open(one->process, one->points);
    if (!switches) continue;
    for (const PointSwitch& is : switches->points())
      if (!is.is_on) points.insert(is.point);
  }
  return points;
}

}  // namespace sojourn::capture
