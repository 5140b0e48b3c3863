// The curves of the distribution of each group's latencies, with bands around them: the points that
// `sojourn report --cdf json` has. A function without state.
#pragma once

#include "analysis/page/answer_sink.h"
#include "analysis/page/journey_columns.h"

namespace sojourn::page {

// Sends a row for each point: curve_group, curve_direction, curve_ns, curve_longer, and the band's
// curve_low and curve_high, which are NaN with too little data. Only the groups with most packets
// have curves.
void send_curves(const JourneyColumns& columns, AnswerSink& sink);

}  // namespace sojourn::page
