// Finds the points of processes and libraries that come while a capture runs, and selects those
// that were asked for. find() may be called by any thread, the rest by the capture's thread. The
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
  // The points that are to be recorded. For a script the request is checked against the first
  // points that its programs have, as none were known before.
  tracee::Points select(tracee::Points found, const Listener& listener);

 private:
  const Options* options_;
  bool has_checked_ = false;
};

// The wanted points among these.
std::set<model::PointId> wanted_points(const tracee::Points& points);

}  // namespace sojourn::capture
