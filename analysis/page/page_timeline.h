// The events over time, a row a thread and a CPU: the number of events in each stretch of time, the
// states of threads, and wakeups. A function without state.
#pragma once

#include <cstdint>
#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/result.h"
#include "analysis/page/answer_sink.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"

namespace sojourn::page {

struct TimelineSpan {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
};

// The whole trace is shown if there is no span. Only the blocks that overlap the span are read; but
// for the states of threads all blocks up to its end, because a state may have begun before the
// span.
Result<nlohmann::ordered_json> timeline(pipeline::TraceInput& input,
                                        const std::optional<TimelineSpan>& span, AnswerSink& sink,
                                        const pipeline::Progress& progress);

}  // namespace sojourn::page
