// A map to begin with: functions of a running process that look like its data path, as text in the
// words of a map, with what is known of how often each is called. No state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/coarse/mapped_points.h"
#include "userspace/coarse/suggest/data_flow.h"
#include "userspace/tracee/process.h"

namespace sojourn::coarse {

constexpr std::size_t kMaxSuggestions = 256;

// Only those that a map would find a cheap place in; the others are among what is unusable. Points
// that the program was prepared with are left out. One site a point.
Result<FoundPoints> find_data_path(const tracee::Process& process);

struct CallRate {
  double a_second = 0;
  double watched_s = 0;     // for so long
  bool is_too_hot = false;  // it would take more of the target's time than tracing may
  std::optional<DataFlowStep> way = {};
};

// Those whose arguments may be watched all at once: called, and together not too often.
std::vector<bool> worth_watching(std::span<const CallRate> calls);

// `calls` by point.
std::string suggested_map(const FoundPoints& found, std::span<const CallRate> calls,
                          const std::string& about);

}  // namespace sojourn::coarse
