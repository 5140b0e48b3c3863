#include "userspace/capture/post_mortem/held_rings.h"

#include <algorithm>

#include <fmt/core.h>

#include "userspace/capture/post_mortem/live_arenas.h"
#include "userspace/capture/records/shared.h"
#include "userspace/capture/rings/thread_stand.h"

namespace sojourn::capture {

namespace {

// As its environment asked for, and no collector has changed since.
bool records_by_itself(const Arena& arena) {
  const sj_arena_control& control = arena.control();
  return load_acquire(control.session) == 1 && load_relaxed(control.dead_after) == 0 &&
         load_relaxed(control.mode) == SJ_RING_FLIGHT;
}

}  // namespace

HeldRings::HeldRings(target::Process process, target::Points points, Find find)
    : process_(std::make_unique<target::Process>(std::move(process))),
      find_(std::move(find)),
      threads_(std::make_unique<Threads>(*process_)),
      points_(std::move(points)) {}

Result<HeldRings> HeldRings::open(target::Process process, target::Points points, Find find) {
  HeldRings held(std::move(process), std::move(points), std::move(find));
  SJ_TRY(target, held.process_->describe());
  held.target_ = std::move(target);
  SJ_CHECK(held.look_again());
  if (held.held_.empty())
    return std::unexpected(held.process_->explain(
        Error(fmt::format("process {} does not record by itself, as one that was started with "
                          "SJ_RINGS=flight does until a collector takes its rings over: hold the "
                          "newest events here: --flight 10s",
                          held.process_->title()))));
  return held;
}

Result<void> HeldRings::look_again() {
  SJ_TRY(found, find_arenas(*process_));
  for (const FoundArena& one : found) {
    if (known_.contains({one.device, one.inode})) continue;
    SJ_TRY(is_ready, take_in(one));
    if (is_ready) known_.emplace(one.device, one.inode);
  }
  return {};
}

// False: it is on its way out.
Result<bool> HeldRings::take_in(const FoundArena& found) {
  SJ_TRY(arena, open_arena(*process_, found));
  if (arena.gone()) return false;
  // Whoever is attached has made them rings of another kind: that is to be told, not this.
  SJ_CHECK(arena.lock());
  if (!records_by_itself(arena)) return true;
  auto match = match_arena(*process_, arena, points_);
  if (!match) {
    SJ_TRY(fresh, find_(*process_));
    points_ = std::move(fresh);
    for (Held& one : held_) {
      SJ_TRY(again, match_arena(*process_, one.arena, points_));
      one.match = again;
    }
    match = match_arena(*process_, arena, points_);
  }
  if (!match) return std::unexpected(std::move(match).error());
  held_.push_back({.arena = std::move(arena), .match = *match});
  return true;
}

std::size_t HeldRings::rings() const {
  std::size_t rings = 0;
  for (const Held& one : held_) {
    const auto slots = one.arena.slots().first(one.arena.slots_used());
    rings += static_cast<std::size_t>(std::ranges::count_if(
        slots, [](const sj_ring_slot& slot) { return load_relaxed(slot.taken) != 0; }));
  }
  return rings;
}

std::vector<std::string> HeldRings::points_without_rings() const {
  std::vector<std::string> names;
  for (std::size_t point = 0; point < points_.schema.points.size(); ++point) {
    const bool has = std::ranges::any_of(points_.ring_sites, [&](const target::RingSite& site) {
      return site.is_wanted && site.point == point &&
             std::ranges::any_of(held_,
                                 [&](const Held& one) { return one.match.file == site.file; });
    });
    if (!has) names.push_back(points_.schema.points[point].name());
  }
  return names;
}

Result<HeldRings::Written> HeldRings::write(const std::string& output,
                                            const std::string& ended_by) {
  std::vector<const Arena*> arenas;
  arenas.reserve(held_.size());
  for (const Held& one : held_) arenas.push_back(&one.arena);
  SJ_TRY(copy, copy_live_arenas(arenas, *process_));
  const LeftProcess left{.pid = process_->namespace_pid(),
                         .comm = process_->comm(),
                         .arguments = {},
                         .arenas = std::move(copy.arenas)};
  auto clock = make_left_clock(readings_of(left), read_clocks_now());
  if (!clock) return std::unexpected(std::move(clock).error().within(process_->title()));
  const auto match_of = [&](const Arena& arena) -> Result<ArenaMatch> {
    for (std::size_t index = 0; index < left.arenas.size(); ++index)
      if (&left.arenas[index].arena == &arena) return held_[index].match;
    return fail("{}: is none of the process's", arena.name());
  };
  SJ_TRY(
      trace,
      write_left_trace(
          output,
          {.left = left,
           .points = points_,
           .match = match_of,
           .clock = *clock,
           .target = target_,
           .attach = "flight rings",
           .ended_by = ended_by,
           .why_nothing =
               [this](const LeftCounts&) {
                 return fmt::format(
                     "the rings of process {} hold no events: nothing "
                     "was hit that is wanted",
                     process_->title());
               },
           .view = {.until_stamp = copy.until_stamp,
                    .instruction =
                        [this](std::uint32_t tid) {
                          const auto stand = stand_of_thread(
                              process_->pid(), static_cast<pid_t>(threads_->host_tid(tid)));
                          return stand ? stand->instruction : 0;
                        },
                    .host_tid = [this](std::uint32_t tid) { return threads_->host_tid(tid); }}}));
  return Written{.trace = std::move(trace), .without_rings = points_without_rings()};
}

}  // namespace sojourn::capture
