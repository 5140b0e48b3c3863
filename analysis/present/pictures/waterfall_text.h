// One journey as a picture of letters: a lane a place, time across. A bar is a stay of the packet,
// or of a piece of it, from the event that brought it there to the event that took it on.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"

namespace sojourn::present {

// `#` is the way of the piece that made the packet whole, `=` another piece, `%` what was sent
// again, `~` an activity of a script, `!` a marker. No line is longer than `width`.
std::string waterfall_text(const journeys::Journey& journey, const model::Schema& schema,
                           std::size_t width);

}  // namespace sojourn::present
