// Switches points on and off in the targets for triggers, and knows which ones were switched off by
// others. Only points of rings have such switches. The capture's thread owns it; what it refers to
// outlives it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "userspace/capture/control/trigger.h"
#include "userspace/capture/processes/traced_processes.h"

namespace sojourn::capture {

class PointSwitches {
 public:
  explicit PointSwitches(TracedProcesses& processes) : processes_(&processes) {}

  // Refuses a trigger that cannot work, before anything is attached.
  Result<void> check(const Trigger& trigger, const model::Schema& schema);
  // Runs a trigger's switches. That a target is ending, and cannot be switched, is no error.
  void act(const Trigger& trigger, const Listener& listener);
  // Restores all points that triggers have switched, so that the next capture finds them as they
  // were. Switches by `sojourn ctl` stay.
  void switch_back();
  // Points that were switched: they are not reported as never hit.
  std::set<model::PointId> switched_points() const;

 private:
  Result<std::size_t> switch_by_pattern(const std::string& pattern, bool on);

  TracedProcesses* processes_;
};

// Returns whether the trigger switches points when it fires.
bool switches_points(const Trigger& trigger);

}  // namespace sojourn::capture
