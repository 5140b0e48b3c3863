// A trace of some stretches of time of another one: what a page has of the events around the
// packets that it shows. Streams, points and sequence numbers are those of the original. Where it
// has the scheduler's events, what came last of each thread before a stretch is there as well, so
// the states of threads are those of the original within each stretch. A function without state.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

struct Window {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;  // included
};

// Without what was measured of the machine, and without samples' stacks. Blocks that cannot be read
// are left out.
Result<std::vector<std::uint8_t>> trace_of_windows(trace::Reader& reader,
                                                   std::vector<Window> windows,
                                                   const pipeline::Progress& progress);

}  // namespace sojourn::page
