// Finds the stays that took longer than the deadline (`sojourn report --deadline`). No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/report/summary.h"

namespace sojourn::report {

// Pairs of the topology in which something was late, those with most first.
std::vector<std::size_t> late_hops(const journeys::Topology& topology, const Summary& summary,
                                   std::uint64_t deadline_ns);

}  // namespace sojourn::report
