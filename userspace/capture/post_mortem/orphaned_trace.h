// Makes a trace of rings that no collector empties: those of a process that has ended, or copies of
// those of processes that go on. No state.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/syntax.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/post_mortem/orphaned_arenas.h"
#include "userspace/capture/post_mortem/orphaned_clock.h"
#include "userspace/capture/post_mortem/orphaned_rings.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/rings/arena_match.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

// The facts that are known of one process besides its rings.
struct OrphanedSession {
  const OrphanedProcess& left;
  const tracee::Points& points;
  std::function<Result<ArenaMatch>(const Arena&)> match;
  model::Target target;
  OrphanedView view = {};
};

// All contents of one trace, and how it came about.
struct OrphanedWhole {
  std::vector<OrphanedSession> sessions;
  const OrphanedClock& clock;
  std::string attach;
  std::string ended_by;
  std::function<std::string(const OrphanedCounts&)>
      why_nothing;                               // the error if there is no event at all
  std::optional<filter::Expression> where = {};  // events for which it is false are left out
};

struct OrphanedTrace {
  std::vector<model::Target> targets;
  model::Capture capture;
  OrphanedCounts counts;
  std::uint64_t lost = 0;
  std::uint64_t filtered = 0;
  std::uint64_t bytes = 0;
};

// Writes the trace in the owner's name. If it fails there is no file.
Result<OrphanedTrace> write_left_trace(const std::string& output, const FileOwner& owner,
                                       const OrphanedWhole& whole);

// The readings of all modules of a process, each of which has read the machine's clock, added to
// those of other processes.
OrphanedReadings readings_of(const OrphanedProcess& left, OrphanedReadings readings = {});

}  // namespace sojourn::capture
