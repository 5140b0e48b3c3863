// Checks journeys after losses. A journey that is called complete must be true in every link and at
// both ends. A journey of which every event was seen must be found. It may be called cut only if a
// lost event concerns it: a discarded duplicate whose arrival was not seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/journeys/rebuilder.h"
#include "tests/basestation/truth.h"
#include "tests/unit/journeys/truth_compare.h"

namespace sojourn::journeys {

struct LossComparison {
  std::uint64_t lost = 0;      // events
  std::uint64_t complete = 0;  // journeys that were found so
  std::uint64_t doubtful = 0;  // of them, those with something false that is flagged
  std::uint64_t invented = 0;  // ..., and not flagged
  std::uint64_t seen = 0;      // complete in truth, and all of it was seen
  std::uint64_t withheld = 0;  // of them, called cut
  std::uint64_t missed = 0;    // or anything else
  Totals totals;
  std::vector<std::string> words;  // about the first that are invented or missed
};

// The observations for which `kept` is true are in the trace; the others leave gaps.
Result<LossComparison> compare_with_losses(const truth::Truth& truth,
                                           std::span<const Observation> observations,
                                           const std::vector<bool>& kept);

}  // namespace sojourn::journeys
