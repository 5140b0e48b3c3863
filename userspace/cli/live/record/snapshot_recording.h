// `record --snapshot` and `record --flight rings`: traces of the rings of processes that record by
// themselves, and messages about rings that no collector has emptied.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/live/record/process_options.h"
#include "userspace/cli/live/record/record_selection.h"

namespace sojourn::cli {

class SnapshotOption {
 public:
  void define(Arguments& arguments);
  bool is_asked() const { return is_asked_; }

 private:
  bool is_asked_ = false;
};

// Refuses options that have no meaning without attaching.
void check_snapshot_options(const Arguments& arguments, const ProcessOptions& processes,
                            const RecordSelection& selection);

struct SnapshotOptions {
  const ProcessOptions& processes;
  const RecordSelection& selection;
  std::string output;
  std::string duration;  // of waiting; empty: until it is stopped
  bool is_snapshot = false;
  bool is_quiet = false;
};
Result<void> record_snapshots(const SnapshotOptions& options, const base::Fd& interrupts);

// Prints a line with the size of a trace, and the instant up to which it goes.
void tell_orphaned_trace(const capture::OrphanedTrace& trace, const std::string& output);
// Prints the facts that are unknown, and the events that are not in the trace.
void tell_what_is_unsure(const capture::OrphanedCounts& counts);

}  // namespace sojourn::cli
