#include "userspace/capture/post_mortem/snapshot_rings.h"

#include <algorithm>

#include <fmt/core.h>

#include "userspace/capture/post_mortem/live_arenas.h"
#include "userspace/capture/records/shared.h"
#include "userspace/capture/rings/thread_position.h"

namespace sojourn::capture {

namespace {

// Returns whether the arena records as its environment asked for, unchanged by any collector.
bool records_by_itself(const Arena& arena) {
  const sj_arena_control& control = arena.control();
  return load_acquire(control.session) == 1 && load_relaxed(control.dead_after) == 0 &&
         load_relaxed(control.mode) == SJ_RING_FLIGHT;
}

}  // namespace

Result<SnapshotRings> SnapshotRings::open(std::vector<SnapshotSubject> subjects, Find find,
                                          std::optional<filter::Expression> where) {
  SnapshotRings held(std::move(find), std::move(where));
  for (SnapshotSubject& subject : subjects) {
    auto member = std::make_unique<Member>(std::move(subject));
    SJ_TRY(about, member->process.describe());
    member->about = std::move(about);
    const Arenas of_others = held.known_;
    SJ_CHECK(held.look_at(*member));
    if (member->held.empty())
      return std::unexpected(member->process.explain(why_none(member->process, of_others)));
    held.members_.push_back(std::move(member));
  }
  return held;
}

Error SnapshotRings::why_none(const tracee::Process& process, const Arenas& of_others) {
  const auto found = find_arenas(process);
  const bool is_child = found && std::ranges::any_of(*found, [&](const FoundArena& one) {
                          return of_others.contains({one.device, one.inode});
                        });
  if (is_child)
    return Error(
        fmt::format("process {} and its parent, which is given as well, share their rings: give "
                    "only one of the two",
                    process.title()));
  return Error(fmt::format(
      "process {} does not record by itself: it must be started with SJ_RINGS=flight, and no "
      "collector may have taken its rings over. --flight 10s holds the newest events here instead",
      process.title()));
}

std::vector<const tracee::Process*> SnapshotRings::processes() const {
  std::vector<const tracee::Process*> processes;
  processes.reserve(members_.size());
  for (const auto& member : members_) processes.push_back(&member->process);
  return processes;
}

std::string SnapshotRings::title() const {
  std::string titles;
  for (const auto& member : members_)
    titles += (titles.empty() ? "process " : ", process ") + member->process.title();
  return titles;
}

bool SnapshotRings::any_alive() const {
  return std::ranges::any_of(members_, [](const auto& member) { return member->process.alive(); });
}

Result<void> SnapshotRings::look_again() {
  for (const auto& member : members_)
    if (auto looked = look_at(*member); !looked && member->process.alive()) return looked;
  return {};
}

Result<void> SnapshotRings::look_at(Member& member) {
  SJ_TRY(found, find_arenas(member.process));
  for (const FoundArena& one : found) {
    if (known_.contains({one.device, one.inode})) continue;
    SJ_TRY(is_ready, add_arena(member, one));
    if (is_ready) known_.emplace(one.device, one.inode);
  }
  return {};
}

// False: the process is ending.
Result<bool> SnapshotRings::add_arena(Member& member, const FoundArena& found) {
  SJ_TRY(arena, open_arena(member.process, found));
  if (arena.gone()) return false;
  if (!has_points(arena)) return true;
  // A collector that is attached has changed the mode: the error should name the collector.
  SJ_CHECK(arena.lock());
  if (!records_by_itself(arena)) return true;
  auto match = match_arena(member.process, arena, member.points);
  if (!match) {
    SJ_TRY(fresh, find_(member.process));
    member.points = std::move(fresh);
    for (Held& one : member.held) {
      SJ_TRY(again, match_arena(member.process, one.arena, member.points));
      one.match = again;
    }
    match = match_arena(member.process, arena, member.points);
  }
  if (!match) return std::unexpected(std::move(match).error());
  member.held.push_back({.arena = std::move(arena), .match = *match});
  return true;
}

std::size_t SnapshotRings::rings() const {
  std::size_t rings = 0;
  for (const auto& member : members_)
    for (const Held& one : member->held) {
      const auto slots = one.arena.slots().first(one.arena.slots_used());
      rings += static_cast<std::size_t>(std::ranges::count_if(
          slots, [](const sj_ring_slot& slot) { return load_relaxed(slot.taken) != 0; }));
    }
  return rings;
}

std::vector<std::string> SnapshotRings::points_without_rings() const {
  std::vector<std::string> names;
  for (const auto& member : members_) {
    const tracee::Points& points = member->points;
    for (std::size_t point = 0; point < points.schema.points.size(); ++point) {
      const bool has = std::ranges::any_of(points.ring_sites, [&](const tracee::RingSite& site) {
        return site.is_wanted && site.point == point &&
               std::ranges::any_of(member->held,
                                   [&](const Held& one) { return one.match.file == site.file; });
      });
      const std::string name = points.schema.points[point].name();
      if (!has && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// The points are known from the member's files, and the threads from the kernel while it lives.
OrphanedSession SnapshotRings::session_of(Member& member, const OrphanedProcess& left,
                                          std::uint64_t until) const {
  const auto match_of = [&member, &left](const Arena& arena) -> Result<ArenaMatch> {
    for (std::size_t index = 0; index < left.arenas.size(); ++index)
      if (&left.arenas[index].arena == &arena) return member.held[index].match;
    return fail("{}: belongs to another process", arena.name());
  };
  const auto instruction = [&member](std::uint32_t tid) {
    const auto stand =
        position_of_thread(member.process.pid(), static_cast<pid_t>(member.threads.host_tid(tid)));
    return stand ? stand->instruction : 0;
  };
  return {
      .left = left,
      .points = member.points,
      .match = match_of,
      .target = member.about,
      .view = {.until_stamp = until,
               .instruction = instruction,
               .has_ended = !member.process.alive(),
               .pid = members_.size() == 1 ? -1 : member.process.pid(),
               .host_tid = [&member](std::uint32_t tid) { return member.threads.host_tid(tid); }}};
}

Result<SnapshotRings::Written> SnapshotRings::write(WriterThread& writer, const std::string& output,
                                                    const std::string& ended_by) {
  std::vector<LiveArena> arenas;
  for (const auto& member : members_)
    for (const Held& one : member->held)
      arenas.push_back({.arena = &one.arena, .process = &member->process});
  SJ_TRY(copy, copy_live_arenas(arenas));
  std::vector<OrphanedProcess> left;
  left.reserve(members_.size());
  OrphanedReadings readings;
  auto next = copy.arenas.begin();
  for (const auto& member : members_) {
    OrphanedProcess one{.pid = member->process.namespace_pid(),
                        .comm = member->process.comm(),
                        .arguments = {},
                        .arenas = {}};
    for (std::size_t count = member->held.size(); count != 0; --count)
      one.arenas.push_back(std::move(*next++));
    readings = readings_of(one, readings);
    left.push_back(std::move(one));
  }
  auto clock = make_left_clock(readings, read_clocks_now());
  if (!clock) return std::unexpected(std::move(clock).error().within(title()));
  OrphanedWhole whole{.sessions = {},
                      .clock = *clock,
                      .attach = "flight rings",
                      .ended_by = ended_by,
                      .why_nothing =
                          [this](const OrphanedCounts&) {
                            return fmt::format(
                                "the rings of {} hold no events: nothing was hit that is wanted",
                                title());
                          },
                      .where = where_};
  whole.sessions.reserve(members_.size());
  for (std::size_t index = 0; index < members_.size(); ++index)
    whole.sessions.push_back(session_of(*members_[index], left[index], copy.until_stamp));
  SJ_TRY(trace, writer.run([&] { return write_left_trace(output, FileOwner::self(), whole); }));
  return Written{.trace = std::move(trace), .without_rings = points_without_rings()};
}

}  // namespace sojourn::capture
