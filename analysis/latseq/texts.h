// The output of LatSeq's scripts, byte for byte, so that programs that read theirs read ours:
// journeys, points and paths (latseq_logs), .lseqj, the matrix of each path, statistics and
// durations (latseq_stats). Times have six digits, nine if the trace is that precise.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/latseq/latseq_journeys.h"
#include "analysis/latseq/recording.h"

namespace sojourn::latseq {

using Print = std::function<Result<void>(std::string_view)>;

// "1587645146.191801"
std::string seconds(std::uint64_t ns);

std::string journey_json(const Recording& recording, const Journey& journey);

// One JSON object a line.
Result<void> print_journeys(const Recording& recording, const Journeys& all, const Print& print);
Result<void> print_points(const Recording& recording, const Journeys& all, const Print& print);
Result<void> print_paths(const Recording& recording, const Journeys& all, const Print& print);

// The dates are local ones, as LatSeq's.
Result<void> print_lseqj(const Recording& recording, const Journeys& all, const Print& print);
Result<void> print_matrix(const Recording& recording, const Journeys& all, const Print& print);

// Milliseconds. Like LatSeq's, they are computed from times in 64-bit floating point, whose noise
// is some 0.0001 of a millisecond.
Result<void> print_statistics(const Recording& recording, const Journeys& all, const Print& print);
Result<void> print_durations(const Recording& recording, const Journeys& all, const Print& print);

}  // namespace sojourn::latseq
