// One journey in words: a block of lines for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/schema.h"

namespace sojourn::present {

// The event that names the journey: the packet that entered (or left) is known by its own ids.
const journeys::Step& namesake(const journeys::Journey& journey);

// The journey's owner, its outcome and its latency, in one line without a line end.
std::string journey_headline(const journeys::Journey& journey, const model::Schema& schema);

// `hosts` are those of a merged trace: the text says how far times between two of them may be off.
using Hosts = std::vector<model::MergedHost>;
std::string journey_text(const journeys::Journey& journey, const model::Schema& schema,
                         const Hosts& hosts = {});

// How far the time of a step since the journey's start may be off.
struct StepError {
  std::size_t host = 0;  // of the step
  bool crosses = false;  // the journey began on another host
  std::uint64_t ns = 0;
};
// Nothing in a trace of one host.
std::optional<StepError> step_error(const journeys::Journey& journey, std::size_t step,
                                    const Hosts& hosts);

}  // namespace sojourn::present
