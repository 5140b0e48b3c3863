// What happened when, a row a thread and a CPU: how many events in each stretch of time, who ran,
// wanted a CPU or was blocked, and who woke whom. A function without state.
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

// Without a span: all. Of the trace only blocks are read that overlap; for what threads did, all
// blocks up to its end, since what a thread does in it may have begun before.
Result<nlohmann::ordered_json> timeline(pipeline::TraceInput& input,
                                        const std::optional<TimelineSpan>& span, AnswerSink& sink,
                                        const pipeline::Progress& progress);

}  // namespace sojourn::page
