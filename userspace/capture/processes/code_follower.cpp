#include "userspace/capture/processes/code_follower.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/base/count_text.h"
#include "userspace/tracee/point_selection.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

// The periods of looking for new code: usually, and while a program is being loaded.
constexpr std::uint64_t kCodePeriodNs = 1'000'000'000;
constexpr std::uint64_t kSoonNs = 20'000'000;

// Within this a program has loaded its libraries and made its rings.
constexpr std::uint64_t kBeginningNs = 1'000'000'000;

// Rings are made a little after their library is mapped.
constexpr unsigned kCodeTries = 25;

// Removes known sites and their points. Files are compared by inode, as a command's own file has
// another name here than it was started by.
tracee::Points only_new(tracee::Points points, const tracee::Points& known) {
  const auto is_known_file = [&](std::size_t index) {
    const tracee::MappedFile& file = points.files[index];
    // stat() may give another device number than the mappings show for the same file.
    const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    return std::ranges::any_of(known.files, [&](const tracee::MappedFile& one) {
      return one.inode == file.inode &&
             (one.device == file.device || last_part(one.name) == last_part(file.name));
    });
  };
  std::erase_if(points.sites, [&](const tracee::Site& site) { return is_known_file(site.file); });
  std::erase_if(points.ring_sites,
                [&](const tracee::RingSite& site) { return is_known_file(site.file); });
  std::vector<bool> is_new(points.schema.points.size());
  for (const tracee::Site& site : points.sites) is_new[site.point] = true;
  for (const tracee::RingSite& site : points.ring_sites)
    if (site.is_wanted) is_new[site.point] = true;
  return tracee::select(std::move(points), is_new);
}

// The first file that has points to record.
const tracee::MappedFile& first_file(const tracee::Points& points) {
  std::size_t first = points.files.size() - 1;
  for (const tracee::Site& site : points.sites) first = std::min(first, site.file);
  for (const tracee::RingSite& site : points.ring_sites)
    if (site.is_wanted) first = std::min(first, site.file);
  return points.files[first];
}

void append(tracee::Points& known, const tracee::Points& more) {
  const std::size_t files = known.files.size();
  known.schema = more.schema;
  std::ranges::copy(more.files, std::back_inserter(known.files));
  for (tracee::Site site : more.sites) {
    site.file += files;
    known.sites.push_back(std::move(site));
  }
  for (tracee::RingSite site : more.ring_sites) {
    site.file += files;
    if (!site.is_wanted)
      site.point = static_cast<model::PointId>(site.point + known.left_out.size());
    known.ring_sites.push_back(site);
  }
  std::ranges::copy(more.left_out, std::back_inserter(known.left_out));
}

}  // namespace

CodeFollower::CodeFollower(const Options& options, TracedProcesses& processes,
                           ProcessRecorder& recorder, SourceSet& sources, CaptureRecord& record,
                           CaptureOutput& output, PointFinder& finder)
    : options_(&options),
      processes_(&processes),
      recorder_(&recorder),
      sources_(&sources),
      record_(&record),
      output_(&output),
      finder_(&finder) {}

Result<void> CodeFollower::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (now_ns >= next_look_ns_) {
    const bool often = now_ns < often_until_ns_ || waits_for_program();
    next_look_ns_ = now_ns + (often ? kSoonNs : kCodePeriodNs);
    for (const auto& one : processes_->all()) {
      if (one->has_ended()) continue;
      look_for_new_rings(*one);
      if (!one->code.finding.valid() && one->code.watch.has_more(one->process)) begin_finding(*one);
    }
    last_look_ns_ = now_ns;
  }
  for (const auto& one : processes_->all()) SJ_CHECK(take_found(*one, listener));
  return {};
}

// A command without points may become another program at any moment, so it is polled often.
bool CodeFollower::waits_for_program() const {
  const TracedProcess& command = processes_->first();
  return options_->launches && !command.has_ended() && !tracee::has_any(command.points);
}

void CodeFollower::follow_exec(TracedProcess& process, std::uint64_t exec_ns) {
  process.expect_rings(options_->engines.wanted != model::Engine::kBpf);
  process.code.tries = 0;
  process.code.exec_ns = exec_ns;
  next_look_ns_ = 0;
  often_until_ns_ = base::monotonic_ns() + kBeginningNs;
}

// Looks for the rings of a process that has executed a program, which makes them while it loads.
void CodeFollower::look_for_new_rings(TracedProcess& process) {
  if (process.code.exec_ns == 0 || !process.has_rings()) return;
  for (RingEngine* engine : sources_->rings()) {
    engine->look_again();
    const auto has_them = engine->is_shared_with(process.process);
    if (!has_them || !*has_them) continue;
    const std::uint64_t exec_ns = std::exchange(process.code.exec_ns, 0);
    if (!engine->has_all())
      record_->note_unarmed({.pid = process.process.pid(),
                             .point = model::kNoPoint,
                             .from_ns = exec_ns,
                             .until_ns = base::monotonic_ns()});
    return;
  }
}

void CodeFollower::begin_finding(TracedProcess& process) {
  process.code.finding_from_ns = last_look_ns_;
  process.code.finding = std::async(
      std::launch::async, [finder = finder_, &process] { return finder->find(process.process); });
}

// Takes the result of a search that has ended, also for a process that has become another program.
Result<void> CodeFollower::take_found(TracedProcess& process, const Listener& listener) {
  std::future<Result<tracee::Points>>& finding = process.code.finding;
  if (!finding.valid() || finding.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return {};
  auto found = finding.get();
  if (process.has_ended()) return {};
  if (!found) {  // the process may be in the middle of an exec
    if (process.is_loading()) (void)try_again(process);
    return {};
  }
  tracee::Points fresh = only_new(finder_->select(std::move(*found), listener), process.points);
  if (!tracee::has_any(fresh)) {
    note_program(process, base::monotonic_ns());
    return {};
  }
  for (RingEngine* engine : sources_->rings()) engine->look_again();
  // Code is mapped before its rings are made.
  if (!recorder_->has_all_rings(process, fresh) && try_again(process)) return {};
  add_code(process, fresh, listener);
  return {};
}

void CodeFollower::add_code(TracedProcess& process, tracee::Points& fresh,
                            const Listener& listener) {
  const auto since_ns = recorder_->begin_code(process, fresh);
  if (!since_ns) return give_up(process, since_ns.error(), listener);
  process.code.tries = 0;
  process.expect_rings(false);
  processes_->tell_new_points(listener);
  const std::set<model::PointId> late = recorder_->late_points(process, fresh);
  const std::uint64_t from_ns = std::max(process.code.finding_from_ns, record_->open_ns());
  for (const model::PointId point : late)
    record_->note_unarmed(
        {.pid = process.process.pid(), .point = point, .from_ns = from_ns, .until_ns = *since_ns});
  note_program(process, late.empty() ? from_ns : *since_ns);
  tell_of(process, fresh, late.empty(), listener);
  append(process.points, fresh);
}

// Tries again while a program is being loaded; the last time without its rings.
void CodeFollower::give_up(TracedProcess& process, const Error& why, const Listener& listener) {
  if (process.is_loading()) {
    process.expect_rings(try_again(process));
    if (!process.is_loading()) process.code.watch = {};
    return;
  }
  if (process.process.alive())
    listener.say(fmt::format("not recorded: what process {} has loaded: {}",
                             process.process.title(), why.text()));
}

void CodeFollower::tell_of(const TracedProcess& process, const tracee::Points& fresh, bool is_whole,
                           const Listener& listener) const {
  const std::string& file = first_file(fresh).name;
  listener.say(fmt::format("process {} {} {}: {} recorded from {}", process.process.title(),
                           file == process.process.exe() ? "runs" : "has loaded",
                           tracee::printable(file),
                           base::counted(wanted_points(fresh).size(), "point"),
                           is_whole ? "its first instruction on" : "now on"));
}

// False: it was tried often enough.
bool CodeFollower::try_again(TracedProcess& process) {
  if (++process.code.tries >= kCodeTries) return false;
  process.code.watch = {};
  next_look_ns_ = std::min(next_look_ns_, base::monotonic_ns() + kSoonNs);
  return true;
}

// Writes to the trace that the process has become another program. Its name changes a little after
// its executable: a look in between shows the old name with the new program.
void CodeFollower::note_program(TracedProcess& process, std::uint64_t since_ns) {
  auto now = tracee::Process::open(process.process.pid());
  if (!now || now->start_time_ns() != process.process.start_time_ns()) return;
  const bool is_other = now->exe() != process.process.exe();
  if (!is_other && now->title() == process.process.title()) return;
  process.process = std::move(*now);
  model::Target newest = process.about;
  if (auto who = process.process.describe()) newest = std::move(*who);
  newest.parent = process.about.parent;
  newest.since_ns = is_other ? since_ns : process.about.since_ns;
  process.about = std::move(newest);
  output_->sink().push(process.about);
}

}  // namespace sojourn::capture
