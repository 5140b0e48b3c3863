// Makes a trace of what rings hold that no collector empties: those of a process that has ended, or
// a copy of those of one that goes on. No state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/model/capture.h"
#include "userspace/capture/post_mortem/left_arenas.h"
#include "userspace/capture/post_mortem/left_clock.h"
#include "userspace/capture/post_mortem/left_rings.h"
#include "userspace/capture/rings/arena_match.h"
#include "userspace/target/target.h"

namespace sojourn::capture {

// What is to be known besides the rings themselves.
struct LeftSession {
  const LeftProcess& left;
  const target::Points& points;
  std::function<Result<ArenaMatch>(const Arena&)> match;
  const LeftClock& clock;
  model::Target target;
  std::string attach;
  std::string ended_by;
  std::function<std::string(const LeftCounts&)> why_nothing;  // where there is no event at all
  LeftView view = {};
};

struct LeftTrace {
  model::Target target;
  model::Capture capture;
  LeftCounts counts;
  std::uint64_t lost = 0;
  std::uint64_t bytes = 0;
};

// In the name of the output's owner; where it fails there is no file.
Result<LeftTrace> write_left_trace(const std::string& output, const LeftSession& session);

// Of all the process's modules: each has taken readings of the machine's clock.
LeftReadings readings_of(const LeftProcess& left);

}  // namespace sojourn::capture
