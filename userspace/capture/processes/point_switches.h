// Points that triggers switch on and off in the targets, and those that whoever else has switched
// off. Only points of rings have such switches. The capture's thread owns it; what it is made of
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

  // What cannot work is refused before anything is attached.
  Result<void> check(const Trigger& trigger, const model::Schema& schema);
  // A target that is ending cannot be switched any more; the capture's end is not the trigger's.
  void act(const Trigger& trigger, const Listener& listener);
  // A trigger's switches are the capture's: the next one, and whoever else looks, finds the points
  // as they were. Those of `sojourn ctl` stay.
  void switch_back();
  // Nothing is said of these not being hit.
  std::set<model::PointId> switched_points() const;

 private:
  Result<std::size_t> switch_by_pattern(const std::string& pattern, bool on);

  TracedProcesses* processes_;
};

// Whether it switches points, once it fires.
bool switches_points(const Trigger& trigger);

}  // namespace sojourn::capture
