// The curves of the distribution of each group's latencies, with bands around them: the points that
// `sojourn report --cdf json` has. A function without state.
#pragma once

#include "analysis/page/answer_sink.h"
#include "analysis/page/journey_columns.h"

namespace sojourn::page {

// A row a point: curve_group, curve_direction, curve_ns, curve_longer, and the band's curve_low and
// curve_high, which are no numbers where there is too little data. Of the groups with most packets.
void send_curves(const JourneyColumns& columns, AnswerSink& sink);

}  // namespace sojourn::page
