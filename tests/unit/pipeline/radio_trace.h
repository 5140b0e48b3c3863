// A trace of made-up radio traffic, and its partitions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/journeys/rebuilder.h"

namespace sojourn::pipeline {

// The number of events from which on a trace is divided into shares.
inline constexpr std::uint64_t kWorthSharing = 10'000'000;

// Writes traffic with gaps, each stream in blocks of its own, and returns the number of events.
// `hit_ps`: the cost of each hit; 0: the trace does not have it.
std::uint64_t write_radio(const std::string& path, std::uint64_t packets, std::uint64_t hit_ps = 0);

// The partitions that threads rebuild of a trace with this number of events.
std::vector<journeys::Partition> parts_for(std::uint64_t events, unsigned processors);

}  // namespace sojourn::pipeline
