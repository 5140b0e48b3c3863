// Makes the sources that record a process, its engines and the other sources that it needs: at the
// start of a capture, and for processes and code that come later. It also numbers the points of
// all processes together. The capture's thread owns it; what it refers to outlives it.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/processes/point_finder.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/hit_costs.h"
#include "userspace/capture/session/source_set.h"

namespace sojourn::capture {

class ProcessRecorder {
 public:
  ProcessRecorder(const Options& options, TracedProcesses& processes, SourceSet& sources,
                  CaptureRecord& record)
      : options_(&options),
        processes_(&processes),
        sources_(&sources),
        record_(&record),
        costs_(record) {}

  // ---- at the start ----
  Result<void> add_subjects(std::vector<Subject> subjects);
  // Adds the sources of all processes to the set. They are not connected yet.
  Result<void> make_sources();
  // Sets the output of sources that are made from here on.
  void connect(CaptureOutput& output) { output_ = &output; }

  // ---- while the capture runs ----
  // Both return the instant from which on the new sources count; 0: from the open mark. If they
  // fail, nothing is left in the set. `knows_others`: other sources refer to the process by now.
  Result<std::uint64_t> begin(TracedProcess& process, bool& knows_others);
  Result<std::uint64_t> begin_code(TracedProcess& process, tracee::Points& fresh);

  // Returns the points that count only from now on: all except those whose rings have recorded from
  // their beginning on.
  std::set<model::PointId> late_points(const TracedProcess& process,
                                       const tracee::Points& points) const;
  bool has_all_rings(const TracedProcess& process, const tracee::Points& points) const;

  // All points of the processes, as the trace numbers them.
  const model::Schema& schema() const { return schema_; }
  const Coverage& coverage() const { return coverage_; }  // as far as making engines shows it
  const HitCosts& costs() const { return costs_; }

 private:
  Result<void> make_engines(TracedProcess& process, tracee::Points& points, SourceEntries& made);
  Result<RingEngine*> engine_of_family(const TracedProcess& process,
                                       const SourceEntries& made) const;
  Result<void> make_others(const TracedProcess& process, SourceEntries& made);
  void measure(const SourceEntries& made);
  Result<void> number_points(tracee::Points& points);
  Result<std::uint64_t> join_running(const TracedProcess& process, SourceEntries& made);

  const Options* options_;
  TracedProcesses* processes_;
  SourceSet* sources_;
  CaptureRecord* record_;
  CaptureOutput* output_ = nullptr;
  HitCosts costs_;
  model::Schema schema_;
  Coverage coverage_;
};

}  // namespace sojourn::capture
