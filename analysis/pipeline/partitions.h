// Which part of a trace's journeys each of several rebuilders makes. No state.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/journeys/rebuilder.h"
#include "analysis/journeys/topology.h"
#include "analysis/trace/reader.h"

namespace sojourn::pipeline {

// Whether parts find what one rebuilder of all finds. Depths begin with the capture: where that is
// not known, with the first event of any direction. And of what came before, all events say how far
// a thread's events reach back.
bool can_partition(const trace::Reader& reader);

// One part for each direction that has units.
std::vector<journeys::Partition> directions_of(const journeys::Topology& topology);

// The same, and of a long trace each direction in shares. How a trace is divided into shares is the
// same everywhere, so that everybody finds the same; that a thread does several of them is not
// seen.
std::vector<journeys::Partition> partitions_of(const journeys::Topology& topology,
                                               std::uint64_t events, unsigned processors);

}  // namespace sojourn::pipeline
