// Drafts a map: the functions of a running process that look like its data path, as the text of a
// map, with the rate at which each is called. No state.
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

// Finds functions with a cheap place for a probe, one site for each point. Others are listed as
// unusable. Points that are built into the program are left out.
Result<FoundPoints> find_data_path(const tracee::Process& process);

struct CallRate {
  double a_second = 0;
  double watched_s = 0;     // the length of the watch
  bool is_too_hot = false;  // tracing it would take too much of the target's time
  std::optional<DataFlowStep> way = {};
};

std::vector<std::optional<DataFlowStep>> ways_of(std::span<const CallRate> calls);

// Marks functions whose arguments may be watched all at once: called, and together not too often.
std::vector<bool> worth_watching(std::span<const CallRate> calls);

// `calls` by point.
std::string suggested_map(const FoundPoints& found, std::span<const CallRate> calls,
                          const std::string& about);

}  // namespace sojourn::coarse
