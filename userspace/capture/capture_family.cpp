// The forked children of a capture's processes (--follow): each is attached to as soon as it is
// told of, and what it did before is told as not armed yet. Nobody waits for the tracer. What ended
// processes leave behind is put away, so that a program that forks all day costs no more each day.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/capture/capture_state.h"

namespace sojourn::capture {

namespace {

// Attaching takes milliseconds, for which no ring is emptied.
constexpr std::uint64_t kLongestLookNs = 20'000'000;

// A child that has become another program may not be ready to be attached to.
constexpr unsigned kTries = 50;
constexpr std::uint64_t kTryAgainNs = 20'000'000;

// In which a program has loaded its libraries and made its rings.
constexpr std::uint64_t kBeginningNs = 1'000'000'000;

constexpr auto pid_of = [](const auto& child) { return child.event.pid; };

}  // namespace

Result<void> Capture::State::follow() {
  if (!options.follow && !options.launches) return {};
  auto started = FamilyWatch::start();
  if (!started && !options.follow) return {};  // what a script becomes is looked for as well
  if (!started) return std::unexpected(std::move(started).error());
  family.watch = std::move(*started);
  coverage.why_only_looks = family.watch->why_only_looks();
  for (const auto& member : members) SJ_CHECK(family.watch->add(member->process.pid()));
  return {};
}

Member* Capture::State::member_of(pid_t pid) {
  const auto found = std::ranges::find_if(members, [&](const auto& member) {
    return !member->has_ended && member->process.pid() == pid;
  });
  return found == members.end() ? nullptr : found->get();
}

Result<void> Capture::State::poll_family(const Listener& listener) {
  for (const FamilyEvent& event : family.watch->take()) {
    Member* const member = member_of(event.pid);
    const auto waits = std::ranges::find(family.children, event.pid, pid_of);
    const auto plain = family.plain.find(event.pid);
    switch (event.kind) {
      case FamilyEvent::Kind::kForked:
        if (options.follow)
          family.children.push_back({.event = event});
        else
          family.watch->remove(event.pid);
        break;
      case FamilyEvent::Kind::kBecameOther:
        if (member != nullptr && std::exchange(member->is_held, false)) break;  // now it is itself
        if (member != nullptr) {
          member->rings_may_come = options.engines.wanted != model::Engine::kBpf;
          member->code_tries = 0;
          code_looks.next_ns = 0;
          member->begun_ns = event.ts_ns;
          code_looks.often_until_ns = base::monotonic_ns() + kBeginningNs;
        }
        if (plain == family.plain.end()) break;
        // What it was before had no points.
        family.children.push_back({.event = {.kind = FamilyEvent::Kind::kForked,
                                             .pid = event.pid,
                                             .parent = plain->second.parent,
                                             .ts_ns = event.ts_ns}});
        family.plain.erase(plain);
        break;
      case FamilyEvent::Kind::kEnded:
        // Its first thread only.
        if (member != nullptr && member->process.alive()) SJ_CHECK(family.watch->add(event.pid));
        if (plain != family.plain.end()) family.plain.erase(plain);
        if (waits == family.children.end()) break;
        note_brief(waits->event, event.ts_ns, listener);
        family.children.erase(waits);
        break;
    }
  }
  const std::uint64_t begin = base::monotonic_ns();
  for (std::size_t left = family.children.size(); left > 0; --left) {
    if (base::monotonic_ns() - begin > kLongestLookNs) break;
    Child child = family.children.front();
    family.children.pop_front();
    if (child.not_before_ns > begin)
      family.children.push_back(child);
    else
      SJ_CHECK(look_at_child(child, listener));
  }
  note_met();
  return {};
}

Result<void> Capture::State::look_at_child(Child child, const Listener& listener) {
  const FamilyEvent& event = child.event;
  if (member_of(event.pid) != nullptr) return {};  // it came by its control group
  auto process = target::Process::open(event.pid);
  if (!process) {
    note_brief(event, base::monotonic_ns(), listener);
    return {};
  }
  Newcomer newcomer{.from_ns = event.ts_ns,
                    .parent = event.parent,
                    .points = {},
                    .is_last_try = child.tries >= kTries};
  if (const Member* const parent = member_of(event.parent); parent != nullptr && child.tries == 0)
    newcomer.points = points_like(*parent, *process);
  SJ_TRY(joined, admit(*process, std::move(newcomer), listener));
  if (joined == Joined::kYes) return {};
  if (!process->alive()) {
    note_brief(event, base::monotonic_ns(), listener);
  } else if (joined == Joined::kLater) {
    ++child.tries;
    child.not_before_ns = base::monotonic_ns() + kTryAgainNs;
    family.children.push_back(child);
  } else {
    family.plain.emplace(event.pid, event);
  }
  return {};
}

// A child that is what its parent was at the fork has the same files at the same addresses: they
// need not be read again. What the parent loaded since it was looked at will be found in both.
std::optional<target::Points> Capture::State::points_like(const Member& parent,
                                                          const target::Process& child) const {
  if (parent.process.exe() != child.exe()) return std::nullopt;
  target::Points points = parent.points;
  points.schema = schema;
  const std::string from = parent.process.proc("");
  for (target::MappedFile& file : points.files)
    if (file.path.starts_with(from)) file.path = child.proc(file.path.substr(from.size()));
  return points;
}

// Ended before it could be attached to. Its rings were read all the same.
void Capture::State::note_brief(const FamilyEvent& child, std::uint64_t until_ns,
                                const Listener& listener) {
  if (bpf.empty() && options.engines.wanted != model::Engine::kBpf) return;
  note_unarmed(
      {.pid = child.pid, .point = model::kNoPoint, .from_ns = child.ts_ns, .until_ns = until_ns});
  tell_of_brief(child.pid, listener);
}

void Capture::State::tell_of_brief(pid_t pid, const Listener& listener) {
  if (std::exchange(family.told_of_brief, true)) return;
  listener.say(fmt::format(
      "process {} ended before all of it could be attached to; the trace tells of each such", pid));
}

// Of a child that only its rings told of, there is no more to be had than its number.
void Capture::State::note_met() {
  for (const pid_t pid : std::exchange(family.met, {})) {
    const bool is_known = std::ranges::any_of(
        members, [&](const auto& member) { return member->process.pid() == pid; });
    const bool waits = std::ranges::find(family.children, pid, pid_of) != family.children.end();
    if (waits) family.met.push_back(pid);
    if (is_known || waits) continue;
    model::Target target = members.front()->about;
    target.pid = pid;
    target.parent = members.front()->process.pid();
    target.since_ns = 0;
    target.until_ns = base::monotonic_ns();
    sink->push(std::move(target));
  }
}

Result<void> Capture::State::retire_ended() {
  if (!options.follow && !options.cgroup) return {};
  bool any = false;
  for (const auto& member : members) {
    if (!member->has_ended || member->is_retired || !is_alive()) continue;
    SJ_TRY(done, retire(*member));
    member->is_retired = done;
    any = any || done;
  }
  if (any) forget_retired();
  return {};
}

// The last hits of a process that has ended are in its rings, and no more will come. False: the
// file's writer is behind, and nothing can be taken.
Result<bool> Capture::State::retire(Member& member) {
  const auto drain = [this](Engine& engine) -> Result<bool> {
    for (bool more = true; more;) {
      if (!sink->has_room()) return false;
      SJ_TRY(left, engine.poll());
      more = left;
    }
    return true;
  };
  for (BpfEngine* engine : member.bpf) {
    SJ_TRY(drained, drain(*engine));
    if (!drained) return false;
  }
  for (RingEngine* engine : rings) {
    SJ_TRY(drained, drain(*engine));
    if (!drained) return false;
  }
  Sources gone;
  for (BpfEngine* engine : member.bpf) {
    engine->flush();
    SJ_CHECK(engine->add_losses(retired.losses));
    SJ_CHECK(engine->add_hits(retired.hits));
    retired.events += engine->events();
    const auto found =
        std::ranges::find_if(sources, [&](const auto& source) { return source.get() == engine; });
    gone.push_back(std::move(*found));
    sources.erase(found);
  }
  forget_engines(gone, member);
  for (auto& source : gone) async_destroyer.destroy(std::move(source));
  return true;
}

// Other sources may still look at their processes, and so may a family's engine at its head.
void Capture::State::forget_retired() {
  if (!options.others.empty()) return;
  const auto is_done = [this](const std::unique_ptr<Member>& member) {
    if (!member->is_retired || member == members.front() || !member->engines.empty() ||
        member->finding.valid())
      return false;
    for (RingEngine* engine : rings)
      if (!engine->forget(member->process)) return false;
    retired.cpu_ns += member->cpu_last_ns - std::min(member->cpu_first_ns, member->cpu_last_ns);
    return true;
  };
  std::erase_if(members, is_done);
}

}  // namespace sojourn::capture
