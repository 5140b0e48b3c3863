// The options for the processes that `record` records: -p PID, --cgroup PATH, and --follow for
// their children.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/live/map_options.h"
#include "userspace/cli/live/record/record_selection.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::cli {

struct ProcessOptions {
  std::vector<pid_t> pids;
  std::string cgroup;
  bool follow = false;
  MapOptions maps;

  void define(Arguments& arguments);
  bool given() const { return !pids.empty() || !cgroup.empty(); }
};

// Finds these processes and their points, and completes `how`. A process that was named must have
// points; in a cgroup at least one process must.
Result<std::vector<capture::Subject>> find_subjects(const ProcessOptions& options,
                                                    const RecordSelection& selection,
                                                    capture::Options& how);

// Reports sites that look like points and cannot be used.
void tell_unusable(const tracee::Points& points);

// Reports points that `sojourn ctl` has switched off: they stay off, and would seem never to be
// hit.
void tell_switched_off(const capture::Subject& subject);

// The error for a program without points, with advice; `executable` may be a path.
Error no_points(const std::string& whom, const std::string& executable, const MapOptions& maps);

}  // namespace sojourn::cli
