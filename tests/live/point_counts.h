// What a trace kept and lost of each point, against what the base station says that it hit.
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

// Of events between the marks: rings of a flight recorder hold some from before, too.
PointCounts count_points(trace::Reader& reader);

// Checks that kept and lost ones together are what the truth tells of, point by point.
void check_counts(const PointCounts& counts, const truth::Truth& truth,
                  const model::Capture& capture);

// Checks that each stream misses no more numbers than the ledger has losses of it, and that
// something is missing where something was lost: what came after its last event leaves no gap.
void check_gaps(const trace::Reader& reader);

}  // namespace sojourn::live
