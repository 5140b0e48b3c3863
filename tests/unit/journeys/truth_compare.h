// Compares rebuilt journeys with the truth of the base station under test. Events made from its
// truth file test the rebuild alone. A recorded trace, whose events were paired with hits, is
// compared the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/journeys/rebuilder.h"
#include "tests/basestation/truth.h"

namespace sojourn::journeys {

// An event as the rebuild is given it, and the truth's hit that it is.
struct Observation {
  std::uint64_t ts_ns = 0;
  std::size_t hit = 0;  // index into Truth::hits
};

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

// Says whether units may end without an event, so that journeys are incomplete.
enum class Vanishing { kNever, kUplink };

// The points of a truth, as the rebuild is given them.
model::Schema schema_of(const truth::Truth& truth);

// Every hit of the truth, at the time before its point was hit.
std::vector<Observation> observe_all(const truth::Truth& truth);

// The observations, in time order, are all hits between the marks. A journey that began between
// them must be found as far as it got; one that ended between them but began earlier must not be
// called whole.
Result<Comparison> compare_with_truth(const truth::Truth& truth,
                                      std::span<const Observation> observations,
                                      CaptureMarks marks = {},
                                      Vanishing vanishing = Vanishing::kNever);

}  // namespace sojourn::journeys
