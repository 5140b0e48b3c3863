// Points that triggers switch on and off, and those that whoever else has switched off.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/model/pattern.h"
#include "userspace/capture/capture_state.h"
#include "userspace/capture/rings/ring_control.h"

namespace sojourn::capture {

namespace {

bool switches(const Trigger& trigger) {
  return trigger.action == Trigger::Action::kEnable || trigger.action == Trigger::Action::kDisable;
}

}  // namespace

// What cannot work is refused before anything is attached; a command that is still to be started
// has nothing to be looked at.
Result<void> Capture::State::check_triggers() {
  for (const Trigger& trigger : options.triggers) {
    if (options.is_command || !switches(trigger)) continue;
    constexpr auto kNothing = "";  // a pattern that no point has
    if (const auto switched = switch_by_pattern(kNothing, true); !switched)
      return fail("--trigger: \"{}\": its points cannot be switched: {}", trigger.words,
                  switched.error().text());
    const bool is_any = std::ranges::any_of(output->schema().points, [&](const auto& point) {
      return model::is_meant(point, trigger.points);
    });
    if (!is_any)
      return fail("--trigger: \"{}\": no point matches \"{}\"", trigger.words, trigger.points);
  }
  return TriggerWatch::check(options.triggers, output->schema());
}

// A target that is ending cannot be switched any more; the capture's end is not the trigger's.
void Capture::State::switch_by_trigger(const Trigger& trigger, const Listener& listener) {
  const bool on = trigger.action == Trigger::Action::kEnable;
  const auto switched = switch_by_pattern(trigger.points, on);
  if (!switched)
    listener.say(fmt::format("not switched: {} ({})", switched.error().text(), trigger.words));
  else if (*switched != 0)
    listener.say(
        fmt::format("switched {} points {} ({})", *switched, on ? "on" : "off", trigger.words));
}

// Of all targets that have switches; how many it changed.
Result<std::size_t> Capture::State::switch_by_pattern(const std::string& pattern, bool on) {
  std::size_t changed = 0;
  bool any = false;
  Result<std::size_t> none = fail("no target is left");
  for (const auto& member : members) {
    if (member->has_ended) continue;
    auto switches = RingControl::open(member->process, member->points);
    if (!switches) {
      none = std::unexpected(std::move(switches).error());
      continue;
    }
    const auto switched = switches->switch_points(pattern, on);
    for (const model::PointId point : switched.changed)
      member->was_on.try_emplace(point, !on);  // what it was before the first of its switches
    changed += switched.changed.size();
    any = true;
  }
  return any ? Result<std::size_t>(changed) : none;
}

// A trigger's switches are the capture's: the next one, and whoever else looks, finds the points as
// they were. Those of `sojourn ctl` stay.
void Capture::State::switch_back() {
  for (const auto& member : members) {
    if (member->has_ended || member->was_on.empty()) continue;
    auto switches = RingControl::open(member->process, member->points);
    if (!switches) continue;  // it is ending
    for (const bool on : {true, false}) {
      std::vector<model::PointId> points;
      for (const auto& [point, was_on] : member->was_on)
        if (was_on == on) points.push_back(point);
      switches->switch_points(points, on);
    }
  }
}

// Of which it says nothing that they were not hit.
std::set<model::PointId> Capture::State::switched_points() const {
  std::set<model::PointId> points;
  for (const auto& member : members) {
    for (const auto& [point, was_on] : member->was_on) points.insert(point);
    if (member->has_ended) continue;
    const auto switches = RingControl::open(member->process, member->points);
    if (!switches) continue;
    for (const PointSwitch& one : switches->points())
      if (!one.is_on) points.insert(one.point);
  }
  return points;
}

}  // namespace sojourn::capture
