#include "userspace/doctor/target_inspection.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/reader.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/api.h"
#include "userspace/files/trace_file.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::doctor {

namespace {

namespace fs = std::filesystem;

// A temporary directory of our own, removed with its contents.
class Scratch {
 public:
  Scratch() {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "sojourn-XXXXXX").string();
    if (!failed && mkdtemp(name.data()) != nullptr) path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  std::string file() const { return path_ / "count.sjt"; }
  bool is_there() const { return !path_.empty(); }

 private:
  fs::path path_;
};

Result<void> count_hits(const tracee::Process& process, const tracee::Points& points,
                        std::chrono::nanoseconds span, TargetInspection& look) {
  const Scratch scratch;
  if (!scratch.is_there()) return fail_errno("make a directory for the count");
  capture::Options options;
  options.output = scratch.file();
  options.duration = span;
  SJ_TRY(same, tracee::Process::open(process.pid()));
  if (same.start_time_ns() != process.start_time_ns())
    return fail("process {} has exited", process.title());
  std::vector<capture::Subject> subjects;
  subjects.push_back({.process = std::move(same), .points = points});
  SJ_TRY(capture, capture::Capture::start(std::move(subjects), std::move(options)));
  SJ_CHECK(capture.run(-1, {.progress = [](const auto&) {}, .say = [](const auto&) {}}));
  SJ_TRY(outcome, capture.finish());
  capture.detach();
  SJ_TRY(reader, files::open_trace(scratch.file()));
  SJ_CHECK(reader.merge([&](const model::EventBatch& batch) {
    for (const model::PointId point : batch.point())
      if (point < look.points.size()) ++look.points[point].hits;
    return true;
  }));
  for (const model::LedgerEntry& entry : reader.ledger())
    if (entry.point < look.points.size()) look.points[entry.point].hits += entry.count;
  look.span_ns = outcome.capture.close_ns - outcome.capture.open_ns;
  look.cpu_ns = outcome.capture.target_cpu_ns;
  return {};
}

void look_at_points(const tracee::Points& points, const HostAnswers& answers,
                    TargetInspection& look) {
  const auto ring = capture::ring_point_costs_ps(points.schema, answers.ring_hit);
  auto bpf = std::vector<std::uint64_t>(points.schema.points.size());
  if (answers.bpf) bpf = capture::bpf_point_costs_ps(points, answers.bpf->costs);
  for (std::size_t id = 0; id < points.schema.points.size(); ++id) {
    const model::Point& point = points.schema.points[id];
    look.points.push_back(
        {.name = tracee::printable(fmt::format("{} {}", letter(point.direction), point.name())),
         .bpf_hit_ps = bpf[id],
         .ring_hit_ps = ring[id]});
  }
  for (const tracee::Site& site : points.sites) ++look.points[site.point].sites;
  for (const tracee::RingSite& site : points.ring_sites)
    if (site.is_wanted) ++look.points[site.point].ring_sites;
  for (const tracee::Unusable& one : points.unusable)
    look.refused.push_back({tracee::printable(one.where), tracee::printable(one.why)});
}

void look_at_rings(const tracee::Process& process, TargetInspection& look) {
  const bool any = std::ranges::any_of(
      look.points, [](const PointInspection& point) { return point.ring_sites != 0; });
  if (!any) {
    look.why_not_rings = "it was built without the probe library";
    return;
  }
  const auto found = capture::find_arenas(process);
  if (!found || found->empty()) {
    look.why_not_rings = found ? "it was started with SJ_RINGS=off, or could not have the memory"
                               : found.error().text();
    return;
  }
  for (const capture::FoundArena& arena : *found)
    if (auto opened = capture::open_arena(process, arena); !opened)
      look.why_not_rings = opened.error().text();
  look.is_ring_file_named = std::ranges::all_of(
      *found, [](const capture::FoundArena& arena) { return !arena.name.contains("memfd:"); });
  // Bit 1: shared memory that has no name in a file system; core(5).
  constexpr std::uint64_t kAnonymousShared = 2;
  const auto filter = tracee::read_whole(process.proc("coredump_filter"));
  const auto bits = filter ? tracee::parse_number(tracee::split(*filter, '\n').front(), 16)
                           : std::optional<std::uint64_t>();
  look.core_has_rings = (bits.value_or(0) & kAnonymousShared) != 0;
}

}  // namespace

Result<TargetInspection> inspect_target(const tracee::Process& process, const HostAnswers& answers,
                                        std::chrono::nanoseconds span) {
  SJ_TRY(points, tracee::find_points(process));
  TargetInspection look;
  look.title = process.title();
  look.is_stopped = process.stopped();
  look_at_points(points, answers, look);
  look_at_rings(process, look);
  if (look.points.empty()) return look;
  if (look.is_stopped)
    look.why_not_counted = "it is stopped";
  else if (auto counted = count_hits(process, points, span, look); !counted)
    look.why_not_counted = counted.error().text();
  return look;
}

}  // namespace sojourn::doctor
