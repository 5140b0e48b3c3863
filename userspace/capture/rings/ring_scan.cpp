// Finds the arenas that a RingEngine collects from: those of the processes that it records, also of
// libraries that come later, and those that an ended command left.
#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

#include "userspace/capture/rings/arena_match.h"
#include "userspace/capture/rings/ring_directory.h"
#include "userspace/capture/rings/ring_engine_state.h"
#include "userspace/tracee/points.h"

namespace sojourn::capture {

// Returns whether the arena of every file with ring sites was found.
bool RingEngine::State::is_complete() const {
  std::set<std::size_t> files;
  for (const tracee::RingSite& site : points.ring_sites) files.insert(site.file);
  return modules.size() >= files.size();
}

Result<void> RingEngine::State::scan(Unfit unfit) {
  for (const Owner& one : owners) {
    auto scanned = scan(*one.process, unfit);
    if (!scanned && one.process->alive()) return scanned;
  }
  return {};
}

Result<void> RingEngine::State::scan(const tracee::Process& process, Unfit unfit) {
  SJ_TRY(found, find_arenas(process));
  for (const FoundArena& arena : found) {
    if (known.contains({arena.device, arena.inode})) continue;
    // Arenas of a process that is ending are left for scan_left().
    auto added = add_arena(process, arena);
    if (!added && unfit == Unfit::kFail) return std::unexpected(std::move(added).error());
    if (!added) left_out.push_back(added.error().text());
    if (!added || *added) known.emplace(arena.device, arena.inode);
  }
  return {};
}

// Adds the arenas that an ended command left in its directory, if it ended before the first scan.
Result<void> RingEngine::State::scan_left() {
  if (options.directory.empty()) return {};
  for (const ArenaFile& file : arena_files(options.directory)) {
    if (file.owner != process().namespace_pid()) continue;
    if (!known.emplace(file.device, file.inode).second) continue;
    SJ_TRY(arena, Arena::open_named(file.path, "the rings of the ended command"));
    if (!has_points(arena)) continue;
    SJ_CHECK(add_arena(process(), std::move(arena)));
  }
  return {};
}

// The point's id in the trace, or in the schema with which the trace will begin.
Result<model::PointId> RingEngine::State::number(const model::Point& point) {
  auto& schema = points.schema.points;
  const auto same = std::ranges::find(schema, point);
  if (same != schema.end()) return static_cast<model::PointId>(same - schema.begin());
  if (output == nullptr) {
    schema.push_back(point);
    return static_cast<model::PointId>(schema.size() - 1);
  }
  SJ_TRY(id, output->add_point(point));
  points.schema = output->schema();
  return id;
}

// Adds points of a library that was loaded since. Known points keep their ids.
Result<void> RingEngine::State::learn(tracee::Points fresh) {
  for (tracee::RingSite site : fresh.ring_sites) {
    const tracee::MappedFile& file = fresh.files[site.file];
    const auto same_file = std::ranges::find_if(points.files, [&](const auto& one) {
      return one.inode == file.inode && one.device == file.device;
    });
    site.file = static_cast<std::size_t>(same_file - points.files.begin());
    if (same_file == points.files.end()) points.files.push_back(file);
    const bool is_known = std::ranges::any_of(points.ring_sites, [&](const auto& one) {
      return one.file == site.file && one.id == site.id;
    });
    if (is_known) continue;
    const model::Point& point = (site.is_wanted ? fresh.schema.points : fresh.left_out)[site.point];
    site.is_wanted = site.is_wanted && (!options.wants || options.wants(point));
    if (site.is_wanted) {
      SJ_TRY(id, number(point));
      site.point = id;
    } else {
      site.point = static_cast<model::PointId>(points.left_out.size());
      points.left_out.push_back(point);
    }
    points.ring_sites.push_back(site);
  }
  if (output != nullptr) output->announce_points();
  return {};
}

Result<ArenaMatch> RingEngine::State::match(const tracee::Process& process, const Arena& arena) {
  auto matched = match_arena(process, arena, points);
  if (matched) return matched;
  if (process.alive()) {
    SJ_TRY(fresh, tracee::find_points(process));
    SJ_CHECK(learn(std::move(fresh)));
    return match_arena(process, arena, points);
  }
  matched = match_left_arena(arena, points);
  if (matched) return matched;
  // The library was loaded and unloaded between two scans.
  SJ_TRY(fresh, tracee::find_points_in_file(arena.module().path));
  SJ_CHECK(learn(std::move(fresh)));
  return match_left_arena(arena, points);
}

// False: the process is ending.
Result<bool> RingEngine::State::add_arena(const tracee::Process& process, const FoundArena& found) {
  SJ_TRY(arena, open_arena(process, found));
  if (arena.gone()) return false;
  if (!has_points(arena)) return true;
  SJ_CHECK(add_arena(process, std::move(arena)));
  return true;
}

Result<void> RingEngine::State::add_arena(const tracee::Process& process, Arena arena) {
  SJ_TRY(match, this->match(process, arena));
  SJ_CHECK(arena.lock());
  if (options.ring_bytes > arena.layout().max_ring_bytes())
    return fail(
        "{}: a ring may have {} bytes at most; a target started with SJ_RING_BYTES={} has "
        "room for such",
        arena.name(), std::bit_floor(arena.layout().max_ring_bytes()), options.ring_bytes);
  std::vector<std::size_t> chosen;
  for (const tracee::RingSite& site : points.ring_sites) {
    if (site.file != match.file) continue;
    const model::Point& point =
        (site.is_wanted ? points.schema.points : points.left_out)[site.point];
    shared.sites.add(match.id(site), site.point, point.fields, site.is_wanted);
    if (!site.is_wanted) continue;
    if (const auto flag = match.flag(site, arena.layout())) {
      chosen.push_back(*flag);
      flags.push_back({.point = site.point, .module = modules.size(), .flag = *flag});
    }
  }
  auto module = std::make_unique<RingModule>(std::move(arena), shared);
  module->choose(std::move(chosen));
  if (armed) {  // a library that was loaded later
    module->enter();
    module->set_marks(shared.gate.open, shared.gate.close);
    module->arm();
  }
  arena_of[match.file] = module.get();
  modules.push_back(std::move(module));
  return {};
}

// ---- queries ----

// poll() looks again for arenas that cannot be opened now.
void RingEngine::look_again() {
  if (state_->armed) std::ignore = state_->scan();
}

bool RingEngine::has_arena(std::uint64_t device, std::uint64_t inode) const {
  return state_->known.contains({device, inode});
}

const RingModule* RingEngine::State::arena_like(const tracee::MappedFile& file) const {
  for (const auto& [index, arena] : arena_of)
    if (points.files[index].inode == file.inode && points.files[index].device == file.device)
      return arena;
  return nullptr;
}

bool RingEngine::has_rings_of(const tracee::MappedFile& file) const {
  return state_->arena_like(file) != nullptr;
}

bool RingEngine::has_all_of(const tracee::MappedFile& file) const {
  const RingModule* const arena = state_->arena_like(file);
  return arena != nullptr && arena->has_all();
}

bool RingEngine::has_its_beginning() const {
  return std::ranges::any_of(state_->modules, [](const auto& module) { return module->has_all(); });
}

bool RingEngine::records(const tracee::Process& process) const {
  return std::ranges::any_of(state_->owners,
                             [&](const auto& owner) { return owner.process == &process; });
}

bool RingEngine::has_all() const {
  return std::ranges::all_of(state_->modules, [](const auto& module) { return module->has_all(); });
}

}  // namespace sojourn::capture
