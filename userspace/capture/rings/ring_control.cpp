#include "userspace/capture/rings/ring_control.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "analysis/model/pattern.h"
#include "userspace/capture/records/shared.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

Result<RingControl> RingControl::open(const tracee::Process& process,
                                      const tracee::Points& points) {
  RingControl control;
  control.points_ = &points;
  SJ_TRY(found, find_arenas(process));
  for (const FoundArena& one : found) {
    SJ_TRY(arena, open_arena(process, one));
    if (arena.gone() || !has_points(arena)) continue;
    SJ_TRY(match, match_arena(process, arena, points));
    control.modules_.push_back({std::move(arena), match});
  }
  if (control.modules_.empty())
    return fail(
        "process {} has no rings, and with them no switches: build it with the probe library, and "
        "start it without SJ_RINGS=off",
        process.title());
  return control;
}

std::uint16_t* RingControl::flag_of(const tracee::RingSite& site) const {
  for (const Module& module : modules_) {
    if (module.match.file != site.file) continue;
    if (const auto flag = module.match.flag(site, module.arena.layout()))
      return &module.arena.flags()[*flag];
  }
  return nullptr;
}

std::vector<PointSwitch> RingControl::points() const {
  std::map<model::PointId, PointSwitch> switches;
  for (const tracee::RingSite& site : points_->ring_sites) {
    const std::uint16_t* const flag = site.is_wanted ? flag_of(site) : nullptr;
    if (flag == nullptr) continue;
    const std::uint16_t now = load_relaxed(*flag);
    switches[site.point] = {.point = site.point,
                            .is_on = (now & SJ_FLAG_OFF) == 0,
                            .is_armed = (now & SJ_FLAG_RING) != 0};
  }
  std::vector<PointSwitch> list;
  list.reserve(switches.size());
  for (const auto& [point, state] : switches) list.push_back(state);
  return list;
}

RingControl::Switched RingControl::switch_points(const std::string& pattern, bool on) {
  return switch_those(
      [&](model::PointId point) {
        return model::matches_pattern(points_->schema.points[point], pattern);
      },
      on);
}

RingControl::Switched RingControl::switch_points(const std::vector<model::PointId>& points,
                                                 bool on) {
  return switch_those(
      [&](model::PointId point) { return std::ranges::find(points, point) != points.end(); }, on);
}

RingControl::Switched RingControl::switch_those(const std::function<bool(model::PointId)>& is_meant,
                                                bool on) {
  std::map<model::PointId, bool> changed;
  for (const tracee::RingSite& site : points_->ring_sites) {
    if (!site.is_wanted) continue;  // the capture leaves it out
    if (!is_meant(site.point)) continue;
    std::uint16_t* const flag = flag_of(site);
    if (flag == nullptr) continue;
    constexpr auto kOff = static_cast<std::uint16_t>(SJ_FLAG_OFF);
    const std::uint16_t before =
        on ? __atomic_fetch_and(flag, static_cast<std::uint16_t>(~kOff), __ATOMIC_RELAXED)
           : __atomic_fetch_or(flag, kOff, __ATOMIC_RELAXED);
    const bool was_on = (before & SJ_FLAG_OFF) == 0;
    changed[site.point] = changed[site.point] || was_on != on;
  }
  Switched switched{.matched = changed.size(), .changed = {}};
  for (const auto& [point, has_changed] : changed)
    if (has_changed) switched.changed.push_back(point);
  return switched;
}

std::vector<RingStatus> RingControl::rings() const {
  std::vector<RingStatus> list;
  for (const Module& module : modules_) {
    for (std::uint64_t slot = 0; slot < module.arena.slots_used(); ++slot) {
      const std::uint64_t owner = load_acquire(module.arena.slots()[slot].taken);
      if (owner == 0) continue;
      const sj_ring& ring = module.arena.ring(slot);
      const std::uint64_t capacity = load_relaxed(ring.mask) + 1;
      const std::int64_t cursor = load_acquire(ring.cursor);
      const std::int64_t limit = load_acquire(ring.limit);
      const bool is_open = limit >= 0 && static_cast<std::uint64_t>(limit) >= capacity;
      const std::int64_t read = is_open ? limit - static_cast<std::int64_t>(capacity) : cursor;
      std::string thread(std::begin(ring.thread_name), std::end(ring.thread_name));
      thread.resize(std::min(thread.find('\0'), thread.size()));
      list.push_back({.pid = static_cast<std::uint32_t>(owner >> 32),
                      .tid = static_cast<std::uint32_t>(owner),
                      .thread = tracee::printable(thread),
                      .bytes = capacity,
                      .waiting_bytes = static_cast<std::uint64_t>(std::max(cursor, read) - read),
                      .lost = load_acquire(ring.lost)});
    }
  }
  return list;
}

}  // namespace sojourn::capture
