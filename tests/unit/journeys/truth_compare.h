// Compares rebuilt journeys with what the base station under test says it did. The events are made
// from its truth file, so this judges the rebuild alone; a recorded trace is compared the same way
// once each of its events is paired with a hit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/journeys/rebuilder.h"
#include "tests/basestation/truth.h"

namespace sojourn::journeys {

struct Comparison {
  std::uint64_t events = 0;
  std::uint64_t expected = 0;  // journeys that must be found
  std::uint64_t equal = 0;     // found with the same events, links and end
  std::uint64_t unfinished = 0;
  std::uint64_t dropped = 0;
  std::uint64_t repeats = 0;
  std::uint64_t segments = 0;  // of journeys of more than one piece
  Totals totals;
  std::vector<std::string> differences;  // the first few, in words
  std::uint64_t different = 0;
};

Result<Comparison> compare_with_truth(const truth::Truth& truth);

}  // namespace sojourn::journeys
