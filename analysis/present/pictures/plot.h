// Pictures of letters (`sojourn report --plot`): latency over arrival time as a heat map, and how
// many packets took longer than a time, of each direction.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/report/latency_grid.h"
#include "analysis/report/summary.h"

namespace sojourn::present {

// No line is longer than `width`.
std::string plot_text(const report::LatencyGrid& grid, const report::Summary& summary,
                      std::size_t width);

}  // namespace sojourn::present
