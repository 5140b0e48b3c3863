// A trace of made-up radio traffic to rebuild, and who may rebuild which part of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/journeys/rebuilder.h"

namespace sojourn::pipeline {

// As many events as make a trace worth dividing into shares.
inline constexpr std::uint64_t kWorthSharing = 10'000'000;

// Traffic with gaps, each stream in blocks of its own. How many events it has. `hit_ps`: what each
// hit took of the target; 0: the trace does not say it.
std::uint64_t write_radio(const std::string& path, std::uint64_t packets, std::uint64_t hit_ps = 0);

// What each thread rebuilds of such a trace, if it had so many events.
std::vector<journeys::Partition> parts_for(std::uint64_t events, unsigned processors);

}  // namespace sojourn::pipeline
