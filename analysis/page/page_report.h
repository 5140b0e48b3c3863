// Figures of packets, as `sojourn report --json` and `sojourn explain --json` have them.
// Functions without state.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/page/answer_sink.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"

namespace sojourn::page {

struct PacketSelection {
  std::string text;
  const filter::JourneyFilter* filter = nullptr;  // null: all packets
};

Result<nlohmann::ordered_json> report_of(Executor& executor, pipeline::TraceInput& input,
                                         const PacketSelection& selection,
                                         const pipeline::Progress& progress);
Result<nlohmann::ordered_json> explanation_of(Executor& executor, pipeline::TraceInput& input,
                                              const PacketSelection& selection,
                                              const pipeline::Progress& progress);

// Returns {"report", "explanation", "count"} and the columns of the packets, in one pass over the
// trace. The executor must have one thread.
Result<nlohmann::ordered_json> first_screen(Executor& executor, pipeline::TraceInput& input,
                                            const PacketSelection& selection, AnswerSink& sink,
                                            const pipeline::Progress& progress);

// Summarises all packets without a row for each: {"report", "explanation", "packets", "grid",
// "slowest"}. The last two are those of a ScreenSummary.
Result<nlohmann::ordered_json> summarised_screen(Executor& executor, pipeline::TraceInput& input,
                                                 const pipeline::Progress& progress);

}  // namespace sojourn::page
