// Processes that come while a capture runs, of a control group or as children. Each counts from an
// instant that is written down, and what was before it is told as not armed yet: nothing of a
// process that just begins is stopped or waited for.
#include <algorithm>
#include <set>
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

// Reading a process's files takes milliseconds, for which no ring is emptied.
constexpr std::uint64_t kLongestLookNs = 10'000'000;

// To attach to a process that came, one a second.
constexpr unsigned kTries = 5;

}  // namespace

Result<void> Capture::State::look_for_processes(const Listener& listener) {
  const std::uint64_t begin = base::monotonic_ns();
  const auto pids = options.cgroup->processes();
  if (!pids) {  // its processes have ended, or are ending
    options.cgroup.reset();
    return {};
  }
  std::erase_if(late_joiners.bystanders, [](const Bystander& one) { return !one.process.alive(); });
  std::erase_if(late_joiners.refused,
                [&](pid_t pid) { return !std::ranges::binary_search(*pids, pid); });
  for (const pid_t pid : *pids) {
    const bool is_member = std::ranges::any_of(members, [&](const auto& member) {
      return !member->has_ended && member->process.pid() == pid;
    });
    if (is_member || pid == getpid() || late_joiners.refused.contains(pid)) continue;
    auto known = std::ranges::find_if(
        late_joiners.bystanders, [&](const Bystander& one) { return one.process.pid() == pid; });
    if (known == late_joiners.bystanders.end()) {
      auto process = target::Process::open(pid);
      if (!process) {  // a kernel thread, or one without the rights to it
        late_joiners.refused.insert(pid);
        continue;
      }
      late_joiners.bystanders.push_back({.process = std::move(*process), .code = {}, .next_ns = 0});
      known = std::prev(late_joiners.bystanders.end());
    }
    // The newer it is, the sooner it may have loaded what it will be.
    if (begin < known->next_ns) continue;
    known->next_ns = begin + kCodePeriodNs;
    if (!known->code.has_more(known->process)) continue;
    const bool is_last_try = known->tries++ >= kTries;
    SJ_TRY(joined,
           admit(known->process, {.from_ns = late_joiners.last_look_ns, .is_last_try = is_last_try},
                 listener));
    if (joined == Joined::kYes) late_joiners.bystanders.erase(known);
    if (joined == Joined::kLater) known->code = {};
    if (base::monotonic_ns() - begin > kLongestLookNs) {
      late_joiners.next_look_ns = 0;  // the others in the next round
      return {};
    }
  }
  late_joiners.last_look_ns = begin;
  return {};
}

// Everything of `made` counts from the instant that is returned on; 0: from the open mark.
Result<std::uint64_t> Capture::State::join_running(Member& member, Sources& made) {
  for (const auto& source : made) SJ_CHECK(source->connect(*output));
  output->announce_points();
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
    // What rings have held from the beginning on is taken as well, whatever the others began with.
    const auto* const by_rings = dynamic_cast<const RingEngine*>(source.get());
    if (is_open() && by_rings != nullptr && by_rings->has_all_of_some())
      source->open_at(about.open_ns);
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
  schema = output->schema();
  const std::size_t known = schema.points.size();
  SJ_CHECK(target::join(points, schema));
  for (std::size_t id = known; id < schema.points.size(); ++id)
    SJ_CHECK(output->add_point(schema.points[id]));
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
Result<Joined> Capture::State::admit(target::Process& process, Newcomer newcomer,
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
    late_joiners.refused.insert(pid);
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
  std::set<model::PointId> late = late_points(member, member.points);
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
std::set<model::PointId> Capture::State::late_points(const Member& member,
                                                     const target::Points& points) const {
  std::set<model::PointId> late = points_of(points);
  for (const target::RingSite& site : points.ring_sites)
    if (site.is_wanted && std::ranges::any_of(rings, [&](const RingEngine* engine) {
          return engine->records(member.process) && engine->has_all_of(points.files[site.file]);
        }))
      late.erase(site.point);
  return late;
}

void Capture::State::tell_of(const Member& member, const Listener& listener) {
  const std::string points = base::counted(points_of(member.points).size(), "point");
  const std::string title = member.process.title();
  const bool is_whole = member.about.parent != 0 && member.about.since_ns == 0 &&
                        member.bpf.empty() &&
                        (member.has_family || late_points(member, member.points).empty());
  if (!is_whole && !member.process.alive()) return tell_of_brief(member.process.pid(), listener);
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
