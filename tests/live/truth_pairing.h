// Pairs the events of a trace with the hits in the base station's truth file. A thread's hits have
// the same order in both, so each thread is compared on its own: same point, same values, and the
// event's time between the truth's stamps before and after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/trace/reader.h"
#include "tests/basestation/truth.h"
#include "tests/unit/journeys/truth_compare.h"

namespace sojourn::live {

struct Pairing {
  std::vector<journeys::Observation> observations;  // in the trace's time order
  std::uint64_t hits_between_marks = 0;             // surely between them, by the truth's stamps
  std::uint64_t hits_on_a_mark = 0;                 // the mark lies between the two stamps
  std::vector<std::string> differences;             // the first few, in words
};

// For a trace without losses: every event must pair, and every hit between the marks.
// `stamp_error_ns` bounds the error of stamps.
Result<Pairing> pair_with_truth(trace::Reader& reader, const truth::Truth& truth,
                                std::uint64_t stamp_error_ns = 0);

// The number of the truth's hits of each point between the marks: certain ones, and possible ones.
struct HitCount {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
std::vector<HitCount> count_hits(const truth::Truth& truth, const model::Capture& capture,
                                 std::uint64_t stamp_error_ns = 0);

// Requires that trace and truth agree in every event, and that the journeys rebuilt from the trace
// have the truth's steps.
journeys::Comparison require_equal(const std::string& trace, const truth::Truth& truth);

}  // namespace sojourn::live
