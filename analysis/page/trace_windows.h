// Makes a trace of some stretches of time of another one: a page carries the events around the
// packets that it shows. Streams, points and sequence numbers are those of the original. If the
// original has the scheduler's events, each thread's last ones before a stretch are included, so
// that the states of threads within the stretch are the original's. A function without state.
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

// The profile of the machine, the stacks of samples and blocks that cannot be read are left out.
Result<std::vector<std::uint8_t>> trace_of_windows(trace::Reader& reader,
                                                   std::vector<Window> windows,
                                                   const pipeline::Progress& progress);

}  // namespace sojourn::page
