// Finds the points of processes and libraries that come while a capture runs, and leaves of them
// what was asked for. find() may be called by any thread; the rest is the capture's thread's. The
// options outlive it.
#pragma once

#include <set>

#include "analysis/base/result.h"
#include "userspace/capture/session/capture_options.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

class PointFinder {
 public:
  explicit PointFinder(const Options& options) : options_(&options) {}

  Result<tracee::Points> find(const tracee::Process& process) const;
  // Those that are to be recorded. What was asked for is checked against the first points that a
  // script's programs turn out to have: nobody knew them before.
  tracee::Points select(tracee::Points found, const Listener& listener);

 private:
  const Options* options_;
  bool has_checked_ = false;
};

// The points of these that are wanted.
std::set<model::PointId> wanted_points(const tracee::Points& points);

}  // namespace sojourn::capture
