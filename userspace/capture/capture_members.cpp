// The processes of a capture: those that it begins with, those that come while it runs, and those
// that end before it. Whoever comes later counts from an instant that is written
// down, and what was before it is told as not armed yet: nothing of a process that just begins is
// stopped or waited for.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/words.h"
#include "userspace/capture/capture_state.h"
#include "userspace/target/points.h"
#include "userspace/target/procfs.h"
#include "userspace/target/selection.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kProcessPeriodNs = kSecond / 10;
constexpr std::uint64_t kCodePeriodNs = kSecond;

// Reading a process's files takes milliseconds, for which no ring is emptied.
constexpr std::uint64_t kLongestLookNs = 10'000'000;

// To attach to a process that came, one a second.
constexpr unsigned kTries = 5;

// Processes that may yet come have a share of the rings' memory, too.
constexpr std::size_t kExpectedProcesses = 8;

}  // namespace

// ---- at the start ----

Result<void> Capture::State::join_members(std::vector<Subject> subjects) {
  for (Subject& subject : subjects) {
    members.push_back(std::make_unique<Member>(std::move(subject)));
    SJ_CHECK(target::join(members.back()->points, schema));
  }
  for (const auto& member : members) member->points.schema = schema;
  return {};
}

Result<void> Capture::State::make_sources() {
  coverage.processes = members.size();
  for (const auto& member : members) SJ_CHECK(make_engines(*member, member->points, sources));
  for (const auto& member : members) SJ_CHECK(make_others(*member, sources));
  if (sources.empty() && !options.launches)
    return fail("there is nothing to record: no process has points");
  return {};
}

// Under the capture's numbers. Rings first: one engine records those of a whole family.
Result<void> Capture::State::make_engines(Member& member, target::Points& points, Sources& made) {
  if (!target::has_any(points)) return {};
  if (options.launches && member.rings_may_come && is_making_rings(member.process))
    return fail("process {} is still making its rings", member.process.title());
  points.schema = schema;
  EngineOptions how = options.engines;
  if (options.tests) how.bpf.keep = options.tests(schema);
  how.bpf.processes =
      is_open() || options.cgroup ? std::max(members.size(), kExpectedProcesses) : members.size();
  RingEngine* common = nullptr;  // with other members of its family
  for (RingEngine* engine : rings) {
    SJ_TRY(shared, engine->is_shared_with(member.process));
    if (shared) common = engine;
  }
  how.rings_are_shared = member.has_rings || common != nullptr;
  how.rings_may_come = member.rings_may_come;
  SJ_TRY(chosen, choose_engines(member.process, points, how));
  if (common != nullptr && !std::exchange(member.has_rings, true)) {
    common->adopt(member.process);
    member.has_family = true;
  }
  coverage.ring_points += chosen.ring_points;
  coverage.bpf_points += chosen.bpf_points;
  coverage.uncovered_points += chosen.uncovered_points;
  coverage.has_unsteady_times |= chosen.is_by_unsteady_counter;
  if (!chosen.why_not_rings.empty()) coverage.why_not_rings = std::move(chosen.why_not_rings);
  if (!chosen.why_not_bpf.empty()) coverage.why_not_bpf = std::move(chosen.why_not_bpf);
  if (chosen.rings) {
    member.has_rings = true;
    schema = chosen.rings->points().schema;  // a library may have come since it was looked at
    rings.push_back(chosen.rings.get());
    engines.push_back(chosen.rings.get());
    member.engines.push_back(chosen.rings.get());
    made.push_back(std::move(chosen.rings));
  }
  if (chosen.bpf) {
    coverage.mechanism = chosen.bpf->chosen();
    bpf.push_back(chosen.bpf.get());
    engines.push_back(chosen.bpf.get());
    member.engines.push_back(chosen.bpf.get());
    member.bpf.push_back(chosen.bpf.get());
    made.push_back(std::move(chosen.bpf));
  }
  return {};
}

Result<void> Capture::State::make_others(Member& member, Sources& made) {
  others.resize(options.others.size());
  member.is_with_others = !others.empty();
  for (std::size_t kind = 0; kind < others.size(); ++kind) {
    bool is_taken = false;
    for (Source* source : others[kind]) {
      SJ_TRY(takes, source->add_process(member.process));
      is_taken = is_taken || takes;
    }
    if (is_taken) continue;
    SJ_TRY(source, options.others[kind](member.process));
    others[kind].push_back(source.get());
    made.push_back(std::move(source));
  }
  return {};
}

// Without its costs a capture is still a capture.
void Capture::State::measure_costs() {
  if (!bpf.empty() && !bpf_costs && coverage.why_no_costs.empty()) {
    CostNeeds needs;
    for (const BpfEngine* engine : bpf)
      for (const target::Site& site : engine->points().sites) needs.add(site);
    auto costs = calibrate_bpf(bpf.front()->chosen(), needs);
    if (costs) {
      bpf_costs = std::move(*costs);
      about.stamp_delay_ns = bpf_costs->stamp_delay_ns;
    } else {
      coverage.why_no_costs = costs.error().text();
    }
  }
  for (const auto& member : members)
    if (!member->is_counted) note_costs(*member);
  about.hit_cost_ps.resize(std::max(about.hit_cost_ps.size(), schema.points.size()));
}

void Capture::State::note_costs(Member& member) {
  member.is_counted = true;
  if (member.has_rings) note_ring_costs(member.points);
  if (!bpf_costs) return;
  for (BpfEngine* engine : member.bpf) {
    engine->correct_stamps(bpf_costs->stamp_delay_ns, bpf_costs->stamp_spread_ns);
    const auto by_point = bpf_point_costs_ps(engine->points(), *bpf_costs);
    for (std::size_t point = 0; point < by_point.size(); ++point) note_cost(point, by_point[point]);
  }
}

void Capture::State::note_ring_costs(const target::Points& points) {
  if (!ring_cost) ring_cost = calibrate_ring();
  const auto costs = ring_point_costs_ps(schema, *ring_cost);
  for (const target::RingSite& site : points.ring_sites)
    if (site.is_wanted) note_cost(site.point, costs[site.point]);
}

// A point that several processes have costs as much as where it costs most.
void Capture::State::note_cost(std::size_t point, std::uint64_t ps) {
  about.hit_cost_ps.resize(std::max(about.hit_cost_ps.size(), schema.points.size()));
  about.hit_cost_ps[point] = std::max(about.hit_cost_ps[point], ps);
}

void Capture::State::listen_for_ctl() {
  for (const auto& member : members) {
    if (control)
      std::ignore = control->add(member->process.pid());
    else if (auto listening = ControlSocket::listen(member->process.pid()))
      control = std::move(*listening);
  }
}

void Capture::describe() {
  for (const auto& member : state_->members) {
    if (auto who = member->process.describe()) member->about = std::move(*who);
    state_->sink->push(member->about);
  }
}

void Capture::has_begun(target::Process command) {
  Member& member = *state_->members.front();
  member.process = std::move(command);
  if (auto who = member.process.describe()) member.about = std::move(*who);
  state_->sink->push(member.about);
}

// ---- while it runs ----

std::vector<const target::Process*> Capture::processes() const {
  std::vector<const target::Process*> alive;
  for (const auto& member : state_->members)
    if (!member->has_ended) alive.push_back(&member->process);
  return alive;
}

bool Capture::State::is_alive() const {
  return std::ranges::any_of(members, [](const auto& member) { return !member->has_ended; });
}

// Since the open mark, or since each joined. An exited process's times are gone, and its pid may be
// another's: the last reading counts then.
std::uint64_t Capture::State::target_cpu_ns() {
  std::uint64_t sum = retired.cpu_ns;
  for (const auto& member : members) {
    if (!member->has_ended && member->process.alive())
      member->cpu_last_ns = member->process.cpu_time_ns().value_or(member->cpu_last_ns);
    sum += member->cpu_last_ns - std::min(member->cpu_first_ns, member->cpu_last_ns);
  }
  return sum;
}

std::optional<RingAdvice> Capture::State::ring_advice() const {
  if (rings.empty()) return std::nullopt;
  RingAdvice advice;
  for (const RingEngine* engine : rings) engine->add_advice(advice);
  return advice;
}

void Capture::State::add_pidfds(std::vector<pollfd>& watched) const {
  for (const auto& member : members)
    if (!member->has_ended)
      watched.push_back({.fd = member->process.pidfd(), .events = POLLIN, .revents = 0});
}

Result<void> Capture::State::end_members(std::span<const pollfd> watched,
                                         const Listener& listener) {
  for (std::size_t index = 0; index < members.size(); ++index) {  // others may come meanwhile
    Member* const member = members[index].get();
    const auto is_its = [&](const pollfd& one) { return one.fd == member->process.pidfd(); };
    const auto found = std::ranges::find_if(watched, is_its);
    if (member->has_ended || found == watched.end() || found->revents == 0) continue;
    member->has_ended = true;
    if (control) control->remove(member->process.pid());
    if (family.watch) family.watch->remove(member->process.pid());
    for (const auto& source : sources) source->remove_process(member->process);
    SJ_TRY(goes_on, has_launched_more(listener));
    if (!is_alive() && !goes_on) {
      about.ended_by = "target exit";
      return {};
    }
    member->about.until_ns = base::monotonic_ns();
    sink->push(member->about);
    tell_coming(
        listener,
        fmt::format("process {} has ended, {} left", member->process.title(),
                    base::counted(static_cast<std::size_t>(std::ranges::count_if(
                                      members, [](const auto& one) { return !one->has_ended; })),
                                  "process")));
  }
  return {};
}

Result<void> Capture::State::look_after_members(const Listener& listener) {
  const std::uint64_t now = base::monotonic_ns();
  SJ_CHECK(retire_ended());
  if (family.watch) SJ_CHECK(look_after_family(listener));
  if (options.cgroup && now >= comings.next_look_ns) {
    comings.next_look_ns = now + kProcessPeriodNs;
    SJ_CHECK(look_for_processes(listener));
  }
  if (now >= code_looks.next_ns) {
    const bool often = now < code_looks.often_until_ns || waits_for_program();
    code_looks.next_ns = now + (often ? kCodeSoonNs : kCodePeriodNs);
    for (const auto& member : members) {
      if (member->has_ended) continue;
      SJ_CHECK(look_for_new_rings(*member));
      if (!member->finding.valid() && member->code.has_more(member->process))
        begin_finding(*member);
    }
    code_looks.last_ns = now;
  }
  for (const auto& member : members) SJ_CHECK(take_in_code(*member, listener));
  return {};
}

// A program that forks all day must not fill the screen either.
void Capture::State::tell_coming(const Listener& listener, const std::string& words) {
  constexpr std::size_t kMost = 40;
  if (++comings.told <= kMost) listener.say(words);
  if (comings.told == kMost)
    listener.say("more processes that come and go are not told of here: the trace has them all");
}

// ---- processes that come ----

Result<void> Capture::State::look_for_processes(const Listener& listener) {
  const std::uint64_t begin = base::monotonic_ns();
  const auto pids = options.cgroup->processes();
  if (!pids) {  // its processes have ended, or are ending
    options.cgroup.reset();
    return {};
  }
  std::erase_if(comings.bystanders, [](const Bystander& one) { return !one.process.alive(); });
  std::erase_if(comings.refused,
                [&](pid_t pid) { return !std::ranges::binary_search(*pids, pid); });
  for (const pid_t pid : *pids) {
    const bool is_member = std::ranges::any_of(members, [&](const auto& member) {
      return !member->has_ended && member->process.pid() == pid;
    });
    if (is_member || pid == getpid() || comings.refused.contains(pid)) continue;
    auto known = std::ranges::find_if(
        comings.bystanders, [&](const Bystander& one) { return one.process.pid() == pid; });
    if (known == comings.bystanders.end()) {
      auto process = target::Process::open(pid);
      if (!process) {  // a kernel thread, or one without the rights to it
        comings.refused.insert(pid);
        continue;
      }
      comings.bystanders.push_back({.process = std::move(*process), .code = {}, .next_ns = 0});
      known = std::prev(comings.bystanders.end());
    }
    // The newer it is, the sooner it may have loaded what it will be.
    if (begin < known->next_ns) continue;
    known->next_ns = begin + kCodePeriodNs;
    if (!known->code.has_more(known->process)) continue;
    const bool is_last_try = known->tries++ >= kTries;
    SJ_TRY(joined,
           take_in(known->process, {.from_ns = comings.last_look_ns, .is_last_try = is_last_try},
                   listener));
    if (joined == Joined::kYes) comings.bystanders.erase(known);
    if (joined == Joined::kLater) known->code = {};
    if (base::monotonic_ns() - begin > kLongestLookNs) {
      comings.next_look_ns = 0;  // the others in the next round
      return {};
    }
  }
  comings.last_look_ns = begin;
  return {};
}

// Everything of `made` counts from the instant that is returned on; 0: from the open mark.
Result<std::uint64_t> Capture::State::join_running(Member& member, Sources& made) {
  for (const auto& source : made) SJ_CHECK(source->connect(*outlet));
  outlet->announce_points();
  for (const auto& source : made) SJ_CHECK(source->arm());
  std::vector<model::PointId> off;
  for (const model::ShedSpan& span : about.shed)
    if (span.until_ns == 0) off.push_back(span.point);
  if (!off.empty())
    for (Engine* engine : member.engines) SJ_CHECK(engine->switch_points(off, false));
  std::uint64_t since_ns = 0;
  if (is_open()) {
    SJ_TRY(opened_ns, open_together(made));
    since_ns = opened_ns;
  }
  for (auto& source : made) {
    // What rings have held from the beginning on is taken as well.
    const auto* const by_rings = dynamic_cast<const RingEngine*>(source.get());
    if (is_open() && by_rings != nullptr && by_rings->has_all()) source->open_at(about.open_ns);
    if (is_open() && options.duration) source->close_at(end_ns);
    if (const auto* engine = dynamic_cast<const Engine*>(source.get())) note_engine(*engine);
    sources.push_back(std::move(source));
  }
  about.sites = static_cast<std::uint32_t>(coverage.sites);
  return since_ns;
}

void Capture::State::forget_engines(const Sources& made, Member& member) {
  const auto is_made = [&](const auto* engine) {
    return std::ranges::any_of(made, [&](const auto& source) {
      return static_cast<const Source*>(engine) == source.get();
    });
  };
  std::erase_if(engines, is_made);
  std::erase_if(rings, is_made);
  std::erase_if(bpf, is_made);
  std::erase_if(member.engines, is_made);
  std::erase_if(member.bpf, is_made);
  for (auto& kind : others) std::erase_if(kind, is_made);
}

// Numbers the points as the trace does, which learns those that it has not.
Result<void> Capture::State::number_points(target::Points& points) {
  schema = outlet->schema();
  const std::size_t known = schema.points.size();
  SJ_CHECK(target::join(points, schema));
  for (std::size_t id = known; id < schema.points.size(); ++id)
    SJ_CHECK(outlet->add_point(schema.points[id]));
  sink->count_points(schema.points.size());
  return {};
}

Result<std::uint64_t> Capture::State::begin_member(Member& member, Sources& made) {
  SJ_CHECK(number_points(member.points));
  SJ_CHECK(make_engines(member, member.points, made));
  SJ_CHECK(make_others(member, made));
  measure_costs();
  member.cpu_first_ns = member.process.cpu_time_ns().value_or(0);
  member.cpu_last_ns = member.cpu_first_ns;
  return join_running(member, made);
}

// False: there is nothing in it to record. One that ends meanwhile is no news.
Result<Joined> Capture::State::take_in(target::Process& process, Newcomer newcomer,
                                       const Listener& listener) {
  target::Points points;
  target::CodeWatch code;
  if (newcomer.points) {
    points = std::move(*newcomer.points);
  } else {
    code.has_more(process);
    auto found = find_points(process);
    if (!found) return Joined::kNothing;
    check_first_points(found->schema, listener);
    points = options.select ? options.select(std::move(*found)) : std::move(*found);
  }
  if (!target::has_any(points) && options.others.empty()) return Joined::kNothing;

  members.push_back(std::make_unique<Member>(Subject{
      .process = std::move(process), .points = std::move(points), .code = std::move(code)}));
  Member& member = *members.back();
  member.rings_may_come = newcomer.parent != 0 && !newcomer.is_last_try;
  Sources made;
  const auto since_ns = begin_member(member, made);
  if (!since_ns) {
    forget_engines(made, member);
    for (RingEngine* engine : rings) (void)engine->forget(member.process);
    member.has_ended = true;
    const std::string title = member.process.title();
    const pid_t pid = member.process.pid();
    if (!member.is_with_others) {
      process = std::move(member.process);
      members.pop_back();
      // A program that has just begun has no rings yet, say.
      if (!newcomer.is_last_try || !process.alive()) return Joined::kLater;
    }
    comings.refused.insert(pid);
    listener.say(fmt::format("not recorded: process {}: {}", title, since_ns.error().text()));
    return Joined::kYes;
  }
  if (auto who = member.process.describe()) member.about = std::move(*who);
  member.about.parent = newcomer.parent;
  if (control) std::ignore = control->add(member.process.pid());
  if (family.watch) SJ_CHECK(family.watch->add(member.process.pid()));
  note_beginning(member, newcomer.from_ns, *since_ns);
  extend_budget(listener);
  sink->push(member.about);
  tell_of(member, listener);
  return Joined::kYes;
}

// A followed child's rings were recorded before anybody knew of it; its other points were not.
void Capture::State::note_beginning(Member& member, std::uint64_t from_ns, std::uint64_t since_ns) {
  const pid_t pid = member.process.pid();
  std::set<model::PointId> late = late_points(member.points);
  const bool has_beginning = member.has_family || late.size() < points_of(member.points).size();
  if (!options.follow || member.about.parent == 0 || !has_beginning) {
    member.about.since_ns = since_ns;
    note_unarmed({.pid = pid, .point = model::kNoPoint, .from_ns = from_ns, .until_ns = since_ns});
    return;
  }
  if (member.has_family) {
    late.clear();
    for (const BpfEngine* engine : member.bpf)
      for (const target::Site& site : engine->points().sites) late.insert(site.point);
  }
  for (const model::PointId point : late)
    note_unarmed({.pid = pid, .point = point, .from_ns = from_ns, .until_ns = since_ns});
}

// Those that only count from now on: all but the ones whose rings have recorded from their
// beginning on.
std::set<model::PointId> Capture::State::late_points(const target::Points& points) const {
  std::set<model::PointId> late = points_of(points);
  for (const target::RingSite& site : points.ring_sites)
    if (site.is_wanted && std::ranges::any_of(rings, [&](const RingEngine* engine) {
          return engine->has_all_of(points.files[site.file]);
        }))
      late.erase(site.point);
  return late;
}

void Capture::State::tell_of(const Member& member, const Listener& listener) {
  const std::string points = base::counted(points_of(member.points).size(), "point");
  const std::string title = member.process.title();
  const bool is_whole =
      member.about.parent != 0 && member.about.since_ns == 0 && member.bpf.empty();
  const std::string_view from = member.about.parent == 0 ? "came" : "was forked";
  const std::string_view since = is_whole ? "from its first instruction on"
                                 : member.about.parent != 0 && member.about.since_ns == 0
                                     ? "from now on, by rings since the fork"
                                     : "from now on";
  tell_coming(listener, fmt::format("process {} {}: {} recorded {}", title, from, points, since));
}

std::set<model::PointId> Capture::State::points_of(const target::Points& points) {
  std::set<model::PointId> all;
  for (const target::Site& site : points.sites) all.insert(site.point);
  for (const target::RingSite& site : points.ring_sites)
    if (site.is_wanted) all.insert(site.point);
  return all;
}

// A program that forks all day must not fill the file with what was not seen of its children.
void Capture::State::note_unarmed(const model::UnarmedSpan& span) {
  constexpr std::size_t kMost = 65'536;
  if (!is_open()) return;
  if (about.unarmed.size() < kMost) {
    about.unarmed.push_back(span);
    return;
  }
  model::UnarmedSpan& several = about.unarmed.back();
  several.pid = 0;
  several.point = model::kNoPoint;
  several.from_ns = std::min(several.from_ns, span.from_ns);
  several.until_ns = std::max(several.until_ns, span.until_ns);
}

// For readers of a capture that is killed, ever more rarely while the list grows; see write_shed().
void Capture::State::write_unarmed() {
  constexpr std::size_t kFew = 256;
  const std::size_t spans = about.unarmed.size();
  if (options.flight || spans == unarmed_written || (spans > kFew && spans < 2 * unarmed_written))
    return;
  unarmed_written = spans;
  sink->push(about);
}

}  // namespace sojourn::capture
