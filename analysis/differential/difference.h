// The differences between the runs of two sides: times of packets, depths, the flow. Plain data and
// functions without state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/differential/comparison.h"
#include "analysis/differential/run_figures.h"
#include "analysis/differential/runs_in_turns.h"

namespace sojourn::differential {

struct Difference {
  Unit unit = Unit::kRun;
  // Latencies, then stays: what changed first, the largest shift of the mean first.
  std::vector<Comparison> times;
  std::vector<Comparison> depths;     // units in a place; shifts with intervals, no tests
  std::vector<std::string> appeared;  // edges of the flow: "D a--b > b--c"
  std::vector<std::string> vanished;
  std::size_t tests = 0;          // tests that share the level
  bool may_be_looked_at = false;  // by the test of RunsInTurns
};

struct DifferenceOptions {
  std::optional<Unit> unit;  // unset: the run if each side has two, else blocks of them
  double level = 0.05;
  std::vector<double> shares = {kMean, 0.5, 0.9, 0.99};
  // Set if the runs were looked at as they came: then verdicts come from that test.
  const RunsInTurns* turns = nullptr;
};

// Sets Comparison::slowdown of all stays.
void add_slowdowns(std::span<Comparison> times);

Difference difference(std::span<const RunFigures> base, std::span<const RunFigures> now,
                      const DifferenceOptions& options);

}  // namespace sojourn::differential
