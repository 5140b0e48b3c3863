// Makes a trace of what rings hold that no collector empties: those of a process that has ended, or
// copies of those of processes that go on. No state.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/syntax.h"
#include "analysis/model/capture.h"
#include "userspace/capture/post_mortem/left_arenas.h"
#include "userspace/capture/post_mortem/left_clock.h"
#include "userspace/capture/post_mortem/left_rings.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/rings/arena_match.h"
#include "userspace/target/target.h"

namespace sojourn::capture {

// What is to be known of one process besides its rings.
struct LeftSession {
  const LeftProcess& left;
  const target::Points& points;
  std::function<Result<ArenaMatch>(const Arena&)> match;
  model::Target target;
  LeftView view = {};
};

// All that one trace tells of, and how it came about.
struct LeftWhole {
  std::vector<LeftSession> sessions;
  const LeftClock& clock;
  std::string attach;
  std::string ended_by;
  std::function<std::string(const LeftCounts&)> why_nothing;  // where there is no event at all
  std::optional<filter::Expression> where = {};               // events that it is false of stay out
};

struct LeftTrace {
  std::vector<model::Target> targets;
  model::Capture capture;
  LeftCounts counts;
  std::uint64_t lost = 0;
  std::uint64_t filtered = 0;
  std::uint64_t bytes = 0;
};

// In the owner's name; where it fails there is no file.
Result<LeftTrace> write_left_trace(const std::string& output, const FileOwner& owner,
                                   const LeftWhole& whole);

// Of all the processes' modules: each has taken readings of the machine's clock. Those before are
// of others.
LeftReadings readings_of(const LeftProcess& left, LeftReadings readings = {});

}  // namespace sojourn::capture
