// The runs of two sides as they come, one after the other: how sure it is by now that a latency or
// a place differs between the sides (sequential_test.h). One thread owns a RunsInTurns.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/differential/comparison.h"
#include "analysis/differential/run_figures.h"
#include "analysis/differential/sequential_test.h"

namespace sojourn::differential {

class RunsInTurns {
 public:
  // The means of one latency, or of the stays in one place, in the runs that have it.
  struct Row {
    char direction = 'D';
    std::string name;
    bool is_latency = false;
    std::vector<Turn> turns = {};
    double evidence = 1;
    double adjusted_p = 1;                 // of all rows together
    double resolution_ns = kUnitOfTimeNs;  // how far it may be off in any of the runs

    // Nothing if a side has no run yet.
    std::optional<Shift> shift() const;
  };

  void add(const RunFigures& run, bool is_new);

  std::size_t runs() const { return runs_; }
  // The row with the strongest evidence; null before the first comparison.
  const Row* surest() const;
  // Returns whether a difference is certain, at this level of all rows together, and large enough
  // for the traces to show it.
  bool is_certain(double level) const;

  // Sets the p-values and verdicts of all comparisons by this test.
  void judge(std::span<Comparison> all, double level) const;

 private:
  Row& row_of(char direction, const std::string& name, bool is_latency);

  static bool is_resolved(const Row& row);

  std::vector<Row> rows_;
  std::size_t runs_ = 0;
};

}  // namespace sojourn::differential
