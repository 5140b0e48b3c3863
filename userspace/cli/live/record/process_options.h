// Which running processes `record` is to record: -p PID, --cgroup PATH, and their children:
// --follow.
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

// Those processes with what is to be recorded of them, and `how` the rest. A process that was named
// must have points; of a cgroup one of all must.
Result<std::vector<capture::Subject>> find_subjects(const ProcessOptions& options,
                                                    const RecordSelection& selection,
                                                    capture::Options& how);

// Says what looks like a point and cannot be used.
void tell_unusable(const tracee::Points& points);

// Points that `sojourn ctl` has switched off stay so, and would only seem never to be hit.
void tell_switched_off(const capture::Subject& subject);

// What to do about it instead; `executable` may be a path.
Error no_points(const std::string& whom, const std::string& executable, const MapOptions& maps);

}  // namespace sojourn::cli
