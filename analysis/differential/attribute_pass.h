// Gathers the attributes of a trace's packets in one pass, among them the cause that took most of
// each packet's time. A function without state.
#pragma once

#include <functional>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/differential/attribute_collector.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"

namespace sojourn::differential {

// Gathers the attributes of the packets for which `keep` is true, or of all without it. The
// collector is finished then.
Result<void> gather_attributes(Executor& executor, pipeline::TraceInput& input,
                               const pipeline::TracePass::Predicate& keep,
                               const pipeline::Progress& progress, AttributeCollector& collector);

// The facts about a trace that the collector needs; the input must outlive it.
AttributeCollector::About about(pipeline::TraceInput& input);

}  // namespace sojourn::differential
