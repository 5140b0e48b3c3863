// The queues of a trace as one JSON object; docs/queues.md lists its members.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/queues/high_water_marks.h"
#include "analysis/queues/sampled_queues.h"
#include "analysis/queues/verifier.h"
#include "analysis/trace/reader.h"

namespace sojourn::queues {

// `verifier` may be null. With depths: the time at each depth of each queue as well.
nlohmann::ordered_json to_json(const trace::Reader& reader, const SampledQueues& sampled_queues,
                               const HighWaterMarks& marks, const Verifier* verifier, bool depths);

}  // namespace sojourn::queues
