#include "userspace/capture/processes/process_recorder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/clock.h"
#include "userspace/capture/records/shared.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/capture/session/shed_plan.h"
#include "userspace/tracee/point_selection.h"

namespace sojourn::capture {

namespace {

// Processes that may come later get a share of the rings' memory, too.
constexpr std::size_t kExpectedProcesses = 8;

// Rings exist some milliseconds before they record by themselves. If they were taken over in
// between, they would look like rings that were never to record by themselves.
bool is_making_rings(const tracee::Process& process) {
  const auto found = find_arenas(process);
  return found && std::ranges::any_of(*found, [&](const FoundArena& one) {
           const auto arena = open_arena(process, one);
           return arena && load_acquire(arena->control().session) == 0;
         });
}

// Groups sites that a budget sheds together. `any_off`: some of a group may be off already, and the
// others on, so each point is a group of its own.
void group_sites(tracee::Points& points, bool any_off) {
  const ShedPlan plan = plan_shedding(points.schema, {});
  for (tracee::Site& site : points.sites)
    site.group = any_off ? site.point : plan.group[site.point];
}

}  // namespace

Result<void> ProcessRecorder::add_subjects(std::vector<Subject> subjects) {
  std::vector<std::string> unplaced;
  for (Subject& subject : subjects) {
    std::ranges::move(subject.points.unplaced, std::back_inserter(unplaced));
    SJ_CHECK(tracee::join(processes_->add(std::move(subject)).points, schema_));
  }
  record_->note_unplaced(unplaced, schema_);
  for (const auto& one : processes_->all()) one->points.schema = schema_;
  return {};
}

Result<void> ProcessRecorder::make_sources() {
  coverage_.processes = processes_->all().size();
  SourceEntries made;
  for (const auto& one : processes_->all()) SJ_CHECK(make_engines(*one, one->points, made));
  for (const auto& one : processes_->all()) SJ_CHECK(make_others(*one, made));
  if (made.empty() && !options_->launches)
    return fail("there is nothing to record: no process has points");
  for (const auto& one : processes_->all())
    if (one->has_rings()) costs_.note_rings(schema_, one->points);
  measure(made);
  sources_->add(std::move(made));
  return {};
}

// Returns another process's engine that records these rings as well, or null.
Result<RingEngine*> ProcessRecorder::engine_of_family(const TracedProcess& process,
                                                      const SourceEntries& made) const {
  RingEngine* common = nullptr;
  for (const SourceEntries* entries : std::array{&sources_->entries(), &made})
    for (RingEngine* engine : rings_of(*entries)) {
      SJ_TRY(shared, engine->is_shared_with(process.process));
      if (shared) common = engine;
    }
  return common;
}

// Makes the engines, with the capture's numbers of points. Rings first: one engine records those of
// a whole family.
Result<void> ProcessRecorder::make_engines(TracedProcess& process, tracee::Points& points,
                                           SourceEntries& made) {
  if (!tracee::has_any(points)) return {};
  if (options_->launches && process.is_loading() && is_making_rings(process.process))
    return fail("process {} is still making its rings", process.process.title());
  points.schema = schema_;
  if (options_->budget) group_sites(points, !record_->points_off().empty());
  EngineOptions how = options_->engines;
  if (options_->tests) how.bpf.keep = options_->tests(schema_);
  const std::size_t processes = processes_->all().size();
  how.bpf.processes =
      record_->is_open() || options_->cgroup ? std::max(processes, kExpectedProcesses) : processes;
  SJ_TRY(common, engine_of_family(process, made));
  how.rings_are_shared = process.has_rings() || common != nullptr;
  how.rings_may_come = process.is_loading();
  SJ_TRY(chosen, choose_engines(process.process, points, how));
  if (common != nullptr && !process.has_rings()) {
    common->adopt(process.process);
    process.rings = TracedProcess::Rings::kFamily;
  }
  coverage_.ring_points += chosen.ring_points;
  coverage_.bpf_points += chosen.bpf_points;
  coverage_.uncovered_points += chosen.uncovered_points;
  coverage_.has_unsteady_times |= chosen.is_by_unsteady_counter;
  if (!chosen.why_not_rings.empty()) coverage_.why_not_rings = std::move(chosen.why_not_rings);
  if (!chosen.why_not_bpf.empty()) coverage_.why_not_bpf = std::move(chosen.why_not_bpf);
  if (chosen.rings) {
    process.rings = TracedProcess::Rings::kOwn;
    schema_ = chosen.rings->points().schema;  // a library may have been loaded since the search
    made.push_back(SourceEntry::of(std::move(chosen.rings), process));
  }
  if (chosen.bpf) {
    coverage_.mechanism = chosen.bpf->chosen();
    made.push_back(SourceEntry::of(std::move(chosen.bpf), process));
  }
  return {};
}

Result<void> ProcessRecorder::make_others(const TracedProcess& process, SourceEntries& made) {
  for (std::size_t kind = 0; kind < options_->others.size(); ++kind) {
    bool is_taken = false;
    for (const SourceEntries* entries : std::array{&sources_->entries(), &std::as_const(made)})
      for (const SourceEntry& one : *entries) {
        if (one.engine != nullptr || one.kind != kind) continue;
        SJ_TRY(takes, one.source->add_process(process.process));
        is_taken = is_taken || takes;
      }
    if (is_taken) continue;
    SJ_TRY(source, options_->others[kind](process.process));
    made.push_back(SourceEntry::of(std::move(source), kind));
  }
  return {};
}

void ProcessRecorder::measure(const SourceEntries& made) {
  costs_.measure_bpf(made);
  record_->note_points(schema_.points.size());
}

// Gives points their numbers in the trace, and adds new ones to its schema.
Result<void> ProcessRecorder::number_points(tracee::Points& points) {
  schema_ = output_->schema();
  const std::size_t known = schema_.points.size();
  SJ_CHECK(tracee::join(points, schema_));
  for (std::size_t id = known; id < schema_.points.size(); ++id)
    SJ_CHECK(output_->add_point(schema_.points[id]));
  output_->sink().count_points(schema_.points.size());
  return {};
}

Result<std::uint64_t> ProcessRecorder::join_running(const TracedProcess& process,
                                                    SourceEntries& made) {
  for (const SourceEntry& one : made) SJ_CHECK(one.source->connect(*output_));
  output_->announce_points();
  for (const SourceEntry& one : made) SJ_CHECK(one.source->arm());
  if (const std::vector<model::PointId> off = record_->points_off(); !off.empty())
    for (const SourceEntries* entries : std::array{&sources_->entries(), &std::as_const(made)})
      for (const SourceEntry& one : *entries)
        if (one.engine != nullptr && one.process == &process)
          SJ_CHECK(one.engine->switch_points(off, false));
  std::uint64_t since_ns = 0;
  if (record_->is_open()) {
    SJ_TRY(opened_ns, open_together(made));
    since_ns = opened_ns;
  }
  const bool any_rings = sources_->has_rings() || !std::ranges::empty(rings_of(made));
  for (const SourceEntry& one : made) {
    // Events that rings have held from the process's beginning on count as well.
    if (record_->is_open() && one.source->has_its_beginning())
      one.source->open_at(record_->open_ns());
    if (record_->is_open() && options_->duration) one.source->close_at(record_->end_ns());
    if (one.engine != nullptr) record_->note_engine(*one.engine, any_rings);
  }
  sources_->add(std::move(made));
  return since_ns;
}

Result<std::uint64_t> ProcessRecorder::begin(TracedProcess& process, bool& knows_others) {
  SourceEntries made;
  SJ_CHECK(number_points(process.points));
  SJ_CHECK(make_engines(process, process.points, made));
  knows_others = !options_->others.empty();
  SJ_CHECK(make_others(process, made));
  if (process.has_rings()) costs_.note_rings(schema_, process.points);
  measure(made);
  TracedProcesses::begin_cpu_time(process);
  return join_running(process, made);
}

Result<std::uint64_t> ProcessRecorder::begin_code(TracedProcess& process, tracee::Points& fresh) {
  SourceEntries made;
  SJ_CHECK(number_points(fresh));
  SJ_CHECK(make_engines(process, fresh, made));
  if (process.has_rings()) {
    costs_.note_rings(schema_, process.points);
    costs_.note_rings(schema_, fresh);
  }
  measure(made);
  SJ_TRY(since_ns, join_running(process, made));
  return record_->is_open() && since_ns == 0 ? base::monotonic_ns() : since_ns;
}

std::set<model::PointId> ProcessRecorder::late_points(const TracedProcess& process,
                                                      const tracee::Points& points) const {
  std::set<model::PointId> late = wanted_points(points);
  for (const tracee::RingSite& site : points.ring_sites)
    if (site.is_wanted && std::ranges::any_of(sources_->rings(), [&](const RingEngine* engine) {
          return engine->records(process.process) && engine->has_all_of(points.files[site.file]);
        }))
      late.erase(site.point);
  return late;
}

bool ProcessRecorder::has_all_rings(const TracedProcess& process,
                                    const tracee::Points& points) const {
  return !process.has_rings() ||
         std::ranges::all_of(points.ring_sites, [&](const tracee::RingSite& site) {
           return !site.is_wanted ||
                  std::ranges::any_of(sources_->rings(), [&](const RingEngine* engine) {
                    return engine->has_rings_of(points.files[site.file]);
                  });
         });
}

}  // namespace sojourn::capture
