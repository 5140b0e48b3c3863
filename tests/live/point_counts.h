// The events that a trace kept and lost of each point, compared with the base station's own record.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/trace/reader.h"
#include "tests/basestation/truth.h"

namespace sojourn::live {

struct PointCounts {
  std::map<std::string, std::uint64_t> kept;  // by "D src--dest"
  std::map<std::string, std::uint64_t> lost;
  std::uint64_t lost_in_all = 0;
};

// Counts events between the marks: rings of a flight recorder hold some from before, too.
PointCounts count_points(trace::Reader& reader);

// Checks for each point that kept and lost events together are those of the truth.
void check_counts(const PointCounts& counts, const truth::Truth& truth,
                  const model::Capture& capture);

// Checks that each stream misses no more numbers than the ledger has losses of it, and that
// something is missing where something was lost: what came after its last event leaves no gap.
void check_gaps(const trace::Reader& reader);

}  // namespace sojourn::live
