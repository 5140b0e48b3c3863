#include "userspace/capture/processes/script_launch.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kLaunchLookPeriodNs = 100'000'000;

// False also for a zombie: a process that has ended, and that its parent has not waited for.
bool is_running(pid_t pid) {
  const auto status = tracee::read_whole(fmt::format("/proc/{}/status", pid));
  const auto state = status ? tracee::status_value(*status, "State") : std::nullopt;
  return state && !state->starts_with('Z') && !state->starts_with('X');
}

// Switches off rings without a reader: their process would fill them, and then count a loss at each
// hit.
void switch_off(const ArenaFile& file) {
  const auto arena = Arena::open_named(file.path, "the rings of a process that is not recorded");
  std::uint32_t session = 1;  // as armed by its environment
  const bool is_armed =
      arena && __atomic_compare_exchange_n(&arena->control().session, &session, 2U, false,
                                           __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (is_armed) arena->lower_flags();
  // Otherwise the arena is still being made.
  if (is_armed || !is_running(file.owner)) unlink(file.path.c_str());
}

}  // namespace

ScriptLaunch::ScriptLaunch(const Options& options, TracedProcesses& processes, SourceSet& sources,
                           CaptureRecord& record, LateJoiners& joiners, FamilyFollower& family,
                           ProcessNews& news)
    : options_(&options),
      processes_(&processes),
      sources_(&sources),
      record_(&record),
      joiners_(&joiners),
      family_(&family),
      news_(&news) {}

Result<bool> ScriptLaunch::goes_on(const Listener& listener) {
  if (!options_->launches || !options_->follow || processes_->any_alive())
    return processes_->any_alive();
  SJ_CHECK(family_->tick(listener));
  return processes_->any_alive() || family_->has_candidates();
}

Result<void> ScriptLaunch::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!options_->launches || now_ns < next_look_ns_) return {};
  next_look_ns_ = now_ns + kLaunchLookPeriodNs;
  look_at_unread_rings(listener, false);
  family_->forget_plain_if([](pid_t pid) { return !is_running(pid); });
  if (!family_->sees_every_fork()) family_->look_at_plain_again();
  if (!processes_->any_alive() && !family_->has_candidates()) record_->end("target exit");
  return {};
}

void ScriptLaunch::finish(const Listener& listener) {
  if (options_->launches) look_at_unread_rings(listener, true);
}

// Looks for rings that record and have no reader, because their process is not recorded or ended
// too soon.
void ScriptLaunch::look_at_unread_rings(const Listener& listener, bool is_end) {
  if (options_->launch_directory.empty()) return;
  for (const ArenaFile& file : arena_files(options_->launch_directory)) {
    const bool is_read = std::ranges::any_of(sources_->rings(), [&](const RingEngine* engine) {
      return engine->has_arena(file.device, file.inode);
    });
    if (is_read) continue;
    const bool is_command = file.owner == processes_->first().process.namespace_pid();
    const bool is_wanted = is_command || (options_->follow && !joiners_->has_refused(file.owner));
    const bool is_over = is_end || !is_running(file.owner);
    if (is_over && is_wanted) note_missed(file, listener);
    if (is_over || !is_wanted) switch_off(file);
  }
}

// Notes a process that began and ended between two polls, at least as to one file's rings.
void ScriptLaunch::note_missed(const ArenaFile& file, const Listener& listener) {
  if (!missed_.insert(file.owner).second) return;
  const std::uint64_t now_ns = base::monotonic_ns();
  const auto arena = Arena::open_named(file.path, "the rings of an ended process");
  const std::uint64_t begun_ns = arena ? arena->first_clocks().monotonic_ns : 0;
  record_->note_unarmed({.pid = file.owner,
                         .point = model::kNoPoint,
                         .from_ns = std::clamp(begun_ns, record_->open_ns(), now_ns),
                         .until_ns = now_ns});
  news_->say(listener, fmt::format("process {} ended before all its rings were found: some or all "
                                   "of its events are missing from the trace",
                                   file.owner));
}

}  // namespace sojourn::capture
