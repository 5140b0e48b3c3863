// Commands that have no points themselves, such as scripts: what they execute, and with --follow
// what they start, is taken in as it comes. Rings record there from the first instruction on, by
// the environment that the command passes on; those that nobody will read are put to rest.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/capture/capture_state.h"
#include "userspace/capture/records/shared.h"
#include "userspace/capture/rings/arena.h"
#include "userspace/capture/rings/ring_directory.h"
#include "userspace/target/procfs.h"
#include "userspace/target/selection.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kLookPeriodNs = 100'000'000;

// One that has ended may still wait for its parent to ask what became of it.
bool is_running(pid_t pid) {
  const auto status = target::read_whole(fmt::format("/proc/{}/status", pid));
  const auto state = status ? target::status_value(*status, "State") : std::nullopt;
  return state && !state->starts_with('Z') && !state->starts_with('X');
}

}  // namespace

// Until then it is looked at often: it may be another program at any moment.
bool Capture::State::waits_for_program() const {
  const Member& command = *members.front();
  return options.launches && !command.has_ended && !target::has_any(command.points);
}

// A script that ends leaves behind what it has started.
Result<bool> Capture::State::has_launched_more(const Listener& listener) {
  if (!options.launches || !options.follow || is_alive()) return is_alive();
  SJ_CHECK(poll_family(listener));
  return is_alive() || !family.children.empty() || !family.plain.empty();
}

Result<void> Capture::State::poll_launch(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!options.launches || now_ns < launch.next_look_ns) return {};
  launch.next_look_ns = now_ns + kLookPeriodNs;
  look_at_left_rings(listener, false);
  std::erase_if(family.plain, [](const auto& one) { return !is_running(one.first); });
  const bool is_told = family.watch && family.watch->why_only_looks().empty();
  for (auto child = family.plain.begin(); child != family.plain.end() && !is_told;) {
    family.children.push_back({.event = child->second});
    child = family.plain.erase(child);
  }
  if (!is_alive() && family.children.empty() && family.plain.empty())
    about.ended_by = "target exit";
  return {};
}

// Rings that record and that nobody reads: their processes are not wanted, or were gone too soon.
void Capture::State::look_at_left_rings(const Listener& listener, bool is_end) {
  if (options.launch_directory.empty()) return;
  for (const ArenaFile& file : arena_files(options.launch_directory)) {
    const bool is_read = std::ranges::any_of(rings, [&](const RingEngine* engine) {
      return engine->has_arena(file.device, file.inode);
    });
    if (is_read) continue;
    const bool is_command = file.owner == members.front()->process.namespace_pid();
    const bool is_wanted =
        is_command || (options.follow && !late_joiners.refused.contains(file.owner));
    const bool is_over = is_end || !is_running(file.owner);
    if (is_over && is_wanted) note_missed(file, listener);
    if (is_over || !is_wanted) put_to_rest(file);
  }
}

// Its process would fill them, and then notice at each hit that they are full.
void Capture::State::put_to_rest(const ArenaFile& file) {
  const auto arena = Arena::open_named(file.path, "the rings of a process that is not recorded");
  std::uint32_t session = 1;  // by its environment
  const bool is_armed =
      arena && __atomic_compare_exchange_n(&arena->control().session, &session, 2U, false,
                                           __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (is_armed) arena->lower_flags();
  // Else it is still being made.
  if (is_armed || !is_running(file.owner)) unlink(file.path.c_str());
}

// It came and went between two looks, at least with the rings of one of its files.
void Capture::State::note_missed(const ArenaFile& file, const Listener& listener) {
  if (!launch.missed.insert(file.owner).second) return;
  const std::uint64_t now_ns = base::monotonic_ns();
  const auto arena = Arena::open_named(file.path, "the rings of an ended process");
  const std::uint64_t begun_ns = arena ? arena->first_clocks().monotonic_ns : 0;
  note_unarmed({.pid = file.owner,
                .point = model::kNoPoint,
                .from_ns = std::clamp(begun_ns, about.open_ns, now_ns),
                .until_ns = now_ns});
  tell_coming(listener, fmt::format("process {} ended before all its rings were found: what it did "
                                    "is not in the trace, or not all of it",
                                    file.owner));
}

// They are there some milliseconds before they record, as their environment wants it. Whoever took
// them over in between could not tell them from those that were never to record by themselves.
bool Capture::State::is_making_rings(const target::Process& process) {
  const auto found = find_arenas(process);
  return found && std::ranges::any_of(*found, [&](const FoundArena& one) {
           const auto arena = open_arena(process, one);
           return arena && load_acquire(arena->control().session) == 0;
         });
}

// What was asked for could not be held against points that nobody knew.
void Capture::State::check_first_points(const model::Schema& found, const Listener& listener) {
  if (!options.check || found.points.empty() || std::exchange(launch.has_checked_points, true))
    return;
  if (const auto checked = options.check(found); !checked) listener.say(checked.error().text());
}

}  // namespace sojourn::capture
