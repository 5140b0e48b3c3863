// Divides the journeys of a trace among several rebuilders. No state.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/journeys/rebuilder.h"
#include "analysis/journeys/topology.h"
#include "analysis/trace/reader.h"

namespace sojourn::pipeline {

// Returns whether partitions give the same result as one rebuilder. They do if the trace says when
// its capture began. Otherwise depths begin with the first event of any direction, and only all
// events together show how far back a thread's events reach.
bool can_partition(const trace::Reader& reader);

// One part for each direction that has units.
std::vector<journeys::Partition> directions_of(const journeys::Topology& topology);

// The directions, each in shares if the trace is long. The number of shares depends on the trace
// only, so the result is the same on every machine. The number of threads that work on them does
// not matter.
std::vector<journeys::Partition> partitions_of(const journeys::Topology& topology,
                                               std::uint64_t events, unsigned processors);

}  // namespace sojourn::pipeline
