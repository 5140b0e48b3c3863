// Code that the processes of a capture load while it runs: libraries, and other programs (exec).
// Its points count from an instant that is written down; what was before it is told as not armed
// yet.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/base/words.h"
#include "userspace/capture/capture_state.h"
#include "userspace/target/points.h"
#include "userspace/target/procfs.h"
#include "userspace/target/selection.h"

namespace sojourn::capture {

namespace {

// Rings are made a little after their library is mapped.
constexpr unsigned kCodeTries = 25;

// Without the sites that are known already, and without the points of these: a command's own file
// has another name here than it was started by.
target::Points only_new(target::Points points, const target::Points& known) {
  const auto is_known_file = [&](std::size_t index) {
    const target::MappedFile& file = points.files[index];
    // A file system may give another device's number to stat() than it has among the mappings.
    const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    return std::ranges::any_of(known.files, [&](const target::MappedFile& one) {
      return one.inode == file.inode &&
             (one.device == file.device || last_part(one.name) == last_part(file.name));
    });
  };
  std::erase_if(points.sites, [&](const target::Site& site) { return is_known_file(site.file); });
  std::erase_if(points.ring_sites,
                [&](const target::RingSite& site) { return is_known_file(site.file); });
  std::vector<bool> is_new(points.schema.points.size());
  for (const target::Site& site : points.sites) is_new[site.point] = true;
  for (const target::RingSite& site : points.ring_sites)
    if (site.is_wanted) is_new[site.point] = true;
  return target::select(std::move(points), is_new);
}

// Of those that have points to record.
const target::MappedFile& first_file(const target::Points& points) {
  std::size_t first = points.files.size() - 1;
  for (const target::Site& site : points.sites) first = std::min(first, site.file);
  for (const target::RingSite& site : points.ring_sites)
    if (site.is_wanted) first = std::min(first, site.file);
  return points.files[first];
}

void append(target::Points& known, const target::Points& more) {
  const std::size_t files = known.files.size();
  known.schema = more.schema;
  std::ranges::copy(more.files, std::back_inserter(known.files));
  for (target::Site site : more.sites) {
    site.file += files;
    known.sites.push_back(std::move(site));
  }
  for (target::RingSite site : more.ring_sites) {
    site.file += files;
    if (!site.is_wanted)
      site.point = static_cast<model::PointId>(site.point + known.left_out.size());
    known.ring_sites.push_back(site);
  }
  std::ranges::copy(more.left_out, std::back_inserter(known.left_out));
}

}  // namespace

// Of a process that has become another program, or its own anew: it makes them while it is loaded.
Result<void> Capture::State::look_for_new_rings(Member& member) {
  if (member.begun_ns == 0 || !member.has_rings) return {};
  for (RingEngine* engine : rings) {
    engine->look_again();
    const auto has_them = engine->is_shared_with(member.process);
    if (!has_them || !*has_them) continue;
    const std::uint64_t begun_ns = std::exchange(member.begun_ns, 0);
    if (!engine->has_all())
      note_unarmed({.pid = member.process.pid(),
                    .point = model::kNoPoint,
                    .from_ns = begun_ns,
                    .until_ns = base::monotonic_ns()});
    return {};
  }
  return {};
}

bool Capture::State::has_all_rings(const Member& member, const target::Points& points) const {
  return !member.has_rings ||
         std::ranges::all_of(points.ring_sites, [&](const target::RingSite& site) {
           return !site.is_wanted || std::ranges::any_of(rings, [&](const RingEngine* engine) {
             return engine->has_rings_of(points.files[site.file]);
           });
         });
}

Result<target::Points> Capture::State::find_points(const target::Process& process) const {
  return options.find ? options.find(process) : target::find_points(process);
}

void Capture::State::begin_finding(Member& member) {
  member.finding_from_ns = code_looks.last_ns;
  member.finding =
      std::async(std::launch::async, [this, &member] { return find_points(member.process); });
}

// What was found, once it is. Also of a process that has become another program.
Result<void> Capture::State::take_in_code(Member& member, const Listener& listener) {
  if (!member.finding.valid() ||
      member.finding.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return {};
  auto found = member.finding.get();
  if (member.has_ended) return {};
  if (!found) {  // it may be in the middle of becoming another
    if (member.rings_may_come) (void)try_code_again(member);
    return {};
  }
  check_first_points(found->schema, listener);
  target::Points fresh = only_new(
      options.select ? options.select(std::move(*found)) : std::move(*found), member.points);
  if (!target::has_any(fresh)) {
    note_program(member, base::monotonic_ns());
    return {};
  }
  for (RingEngine* engine : rings) engine->look_again();
  // They are mapped before their rings are made.
  if (!has_all_rings(member, fresh) && try_code_again(member)) return {};
  Sources made;
  const auto since_ns = begin_code(member, fresh, made);
  if (!since_ns) {
    forget_engines(made, member);
    if (member.rings_may_come) {
      member.rings_may_come = try_code_again(member);
      if (!member.rings_may_come) member.code = {};  // without them, then
      return {};
    }
    if (member.process.alive())
      listener.say(fmt::format("not recorded: what process {} has loaded: {}",
                               member.process.title(), since_ns.error().text()));
    return {};
  }
  member.code_tries = 0;
  member.rings_may_come = false;
  extend_budget(listener);
  const std::set<model::PointId> late = late_points(member, fresh);
  const std::uint64_t from_ns = std::max(member.finding_from_ns, about.open_ns);
  for (const model::PointId point : late)
    note_unarmed(
        {.pid = member.process.pid(), .point = point, .from_ns = from_ns, .until_ns = *since_ns});
  note_program(member, late.empty() ? from_ns : *since_ns);
  const std::string& file = first_file(fresh).name;
  listener.say(fmt::format("process {} {} {}: {} recorded from {}", member.process.title(),
                           file == member.process.exe() ? "runs" : "has loaded",
                           target::printable(file), base::counted(points_of(fresh).size(), "point"),
                           late.empty() ? "its first instruction on" : "now on"));
  append(member.points, fresh);
  return {};
}

// False: that was often enough.
bool Capture::State::try_code_again(Member& member) {
  if (++member.code_tries >= kCodeTries) return false;
  member.code = {};
  code_looks.next_ns = std::min(code_looks.next_ns, base::monotonic_ns() + kCodeSoonNs);
  return true;
}

// Where the process has become another program, the trace is told. Its name changes a little after
// its executable does: who looked in between has the old name with the new program.
void Capture::State::note_program(Member& member, std::uint64_t since_ns) {
  auto now = target::Process::open(member.process.pid());
  if (!now || now->start_time_ns() != member.process.start_time_ns()) return;
  const bool is_other = now->exe() != member.process.exe();
  if (!is_other && now->title() == member.process.title()) return;
  member.process = std::move(*now);
  model::Target newest = member.about;
  if (auto who = member.process.describe()) newest = std::move(*who);
  newest.parent = member.about.parent;
  newest.since_ns = is_other ? since_ns : member.about.since_ns;
  member.about = std::move(newest);
  sink->push(member.about);
}

Result<std::uint64_t> Capture::State::begin_code(Member& member, target::Points& fresh,
                                                 Sources& made) {
  SJ_CHECK(number_points(fresh));
  SJ_CHECK(make_engines(member, fresh, made));
  member.is_counted = false;
  measure_costs();
  if (member.has_rings) note_ring_costs(fresh);
  SJ_TRY(since_ns, join_running(member, made));
  return is_open() && since_ns == 0 ? base::monotonic_ns() : since_ns;
}

}  // namespace sojourn::capture
