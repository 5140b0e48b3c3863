#include "userspace/capture/processes/family_follower.h"

#include <algorithm>
#include <utility>

#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

// Attaching takes milliseconds, in which no ring is emptied.
constexpr std::uint64_t kMaxFamilyLookNs = 20'000'000;

// A child that has become another program may not be ready to be attached to.
constexpr unsigned kFamilyTries = 50;
constexpr std::uint64_t kTryAgainNs = 20'000'000;

constexpr auto pid_of = [](const auto& child) { return child.event.pid; };

}  // namespace

FamilyFollower::FamilyFollower(const Options& options, TracedProcesses& processes,
                               ProcessRecorder& recorder, SourceSet& sources, CaptureRecord& record,
                               CaptureOutput& output, LateJoiners& joiners, CodeFollower& code,
                               ProcessNews& news)
    : options_(&options),
      processes_(&processes),
      recorder_(&recorder),
      sources_(&sources),
      record_(&record),
      output_(&output),
      joiners_(&joiners),
      code_(&code),
      news_(&news),
      awaits_command_(options.is_command) {}

Result<void> FamilyFollower::start() {
  if (!options_->follow && !options_->launches) return {};
  auto started = FamilyWatch::start();
  if (!started && !options_->follow)
    return {};  // programs that a script executes are looked for as well
  if (!started) return std::unexpected(std::move(started).error());
  watch_ = std::move(*started);
  why_only_looks_ = watch_->why_only_looks();
  for (const auto& one : processes_->all()) SJ_CHECK(watch_->add(one->process.pid()));
  return {};
}

Result<void> FamilyFollower::on_joined(const TracedProcess& process) {
  return watch_ ? watch_->add(process.process.pid()) : Result<void>();
}

void FamilyFollower::on_ended(const TracedProcess& process) {
  if (watch_) watch_->remove(process.process.pid());
}

Result<void> FamilyFollower::tick(const Listener& listener) {
  if (!watch_) return {};
  for (const FamilyEvent& event : watch_->take()) SJ_CHECK(take(event, listener));
  const std::uint64_t begin = base::monotonic_ns();
  for (std::size_t left = children_.size(); left > 0; --left) {
    if (base::monotonic_ns() - begin > kMaxFamilyLookNs) break;
    Child child = children_.front();
    children_.pop_front();
    if (child.not_before_ns > begin)
      children_.push_back(child);
    else
      SJ_CHECK(look_at_child(child, listener));
  }
  note_met();
  return {};
}

Result<void> FamilyFollower::take(const FamilyEvent& event, const Listener& listener) {
  switch (event.kind) {
    case FamilyEvent::Kind::kForked:
      take_fork(event);
      return {};
    case FamilyEvent::Kind::kBecameOther:
      take_exec(event);
      return {};
    case FamilyEvent::Kind::kEnded:
      return take_end(event, listener);
  }
  return {};
}

void FamilyFollower::take_fork(const FamilyEvent& event) {
  if (options_->follow)
    children_.push_back({.event = event});
  else
    watch_->remove(event.pid);
}

void FamilyFollower::take_exec(const FamilyEvent& event) {
  TracedProcess* const process = processes_->find(event.pid);
  const bool is_command = process != nullptr && process == &processes_->first();
  if (is_command && std::exchange(awaits_command_, false))
    return;  // now the command has executed its program
  if (process != nullptr) code_->follow_exec(*process, event.ts_ns);
  const auto plain = plain_.find(event.pid);
  if (plain == plain_.end()) return;
  // The program before had no points.
  children_.push_back({.event = {.kind = FamilyEvent::Kind::kForked,
                                 .pid = event.pid,
                                 .parent = plain->second.parent,
                                 .ts_ns = event.ts_ns}});
  plain_.erase(plain);
}

Result<void> FamilyFollower::take_end(const FamilyEvent& event, const Listener& listener) {
  const TracedProcess* const process = processes_->find(event.pid);
  // Its first thread only has ended.
  if (process != nullptr && process->process.alive()) SJ_CHECK(watch_->add(event.pid));
  plain_.erase(event.pid);
  const auto waits = std::ranges::find(children_, event.pid, pid_of);
  if (waits == children_.end()) return {};
  note_brief(waits->event, event.ts_ns, listener);
  children_.erase(waits);
  return {};
}

Result<void> FamilyFollower::look_at_child(Child child, const Listener& listener) {
  const FamilyEvent& event = child.event;
  if (processes_->find(event.pid) != nullptr) return {};  // it was admitted by its control group
  auto process = tracee::Process::open(event.pid);
  if (!process) {
    note_brief(event, base::monotonic_ns(), listener);
    return {};
  }
  Newcomer newcomer{.from_ns = event.ts_ns,
                    .parent = event.parent,
                    .points = {},
                    .is_last_try = child.tries >= kFamilyTries};
  const TracedProcess* const parent = processes_->find(event.parent);
  if (parent != nullptr && child.tries == 0) newcomer.points = points_like(*parent, *process);
  SJ_TRY(admission, joiners_->admit(*process, std::move(newcomer), listener));
  if (admission == Admission::kJoined) return {};
  if (!process->alive()) {
    note_brief(event, base::monotonic_ns(), listener);
  } else if (admission == Admission::kTryLater) {
    ++child.tries;
    child.not_before_ns = base::monotonic_ns() + kTryAgainNs;
    children_.push_back(child);
  } else {
    plain_.emplace(event.pid, event);
  }
  return {};
}

// A child that still runs its parent's program has the same files at the same addresses: they need
// not be read again. Code that the parent loaded since its last search will be found in both.
std::optional<tracee::Points> FamilyFollower::points_like(const TracedProcess& parent,
                                                          const tracee::Process& child) const {
  if (parent.process.exe() != child.exe()) return std::nullopt;
  tracee::Points points = parent.points;
  points.schema = recorder_->schema();
  const std::string from = parent.process.proc("");
  for (tracee::MappedFile& file : points.files)
    if (file.path.starts_with(from)) file.path = child.proc(file.path.substr(from.size()));
  return points;
}

// Notes a child that ended before it could be attached to. Its rings were read nevertheless.
void FamilyFollower::note_brief(const FamilyEvent& child, std::uint64_t until_ns,
                                const Listener& listener) {
  if (!sources_->has_bpf() && options_->engines.wanted != model::Engine::kBpf) return;
  record_->note_unarmed(
      {.pid = child.pid, .point = model::kNoPoint, .from_ns = child.ts_ns, .until_ns = until_ns});
  news_->say_brief(listener, child.pid);
}

// Notes children that are known by their rings alone: only their pids are known.
void FamilyFollower::note_met() {
  for (const pid_t pid : std::exchange(met_, {})) {
    const bool is_known = std::ranges::any_of(
        processes_->all(), [&](const auto& one) { return one->process.pid() == pid; });
    const bool waits = std::ranges::find(children_, pid, pid_of) != children_.end();
    if (waits) met_.push_back(pid);
    if (is_known || waits) continue;
    model::Target target = processes_->first().about;
    target.pid = pid;
    target.parent = processes_->first().process.pid();
    target.since_ns = 0;
    target.until_ns = base::monotonic_ns();
    output_->sink().push(std::move(target));
  }
}

void FamilyFollower::forget_plain_if(const std::function<bool(pid_t)>& is_gone) {
  std::erase_if(plain_, [&](const auto& one) { return is_gone(one.first); });
}

void FamilyFollower::look_at_plain_again() {
  for (const auto& [pid, event] : std::exchange(plain_, {})) children_.push_back({.event = event});
}

}  // namespace sojourn::capture
