// The processes of a capture: those that it begins with, who records them, and those that end
// before it does.
#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/words.h"
#include "userspace/capture/capture_state.h"
#include "userspace/target/selection.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kProcessPeriodNs = kSecond / 10;

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

Result<void> Capture::State::poll_members(const Listener& listener) {
  const std::uint64_t now = base::monotonic_ns();
  SJ_CHECK(retire_ended());
  if (family.watch) SJ_CHECK(poll_family(listener));
  if (options.cgroup && now >= late_joiners.next_look_ns) {
    late_joiners.next_look_ns = now + kProcessPeriodNs;
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
  if (++late_joiners.told <= kMost) listener.say(words);
  if (late_joiners.told == kMost)
    listener.say("more processes that come and go are not told of here: the trace has them all");
}

}  // namespace sojourn::capture
