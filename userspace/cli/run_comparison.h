// Compares traces of two sides and prints what differs: what `diff` and `ab` have in common. One
// command owns a RunComparison.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/differential/run_figures.h"
#include "analysis/differential/runs_in_turns.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/traces_to_compare.h"

namespace sojourn::cli {

class RunComparison {
 public:
  struct Side {
    std::vector<std::string> paths;
    std::vector<differential::RunFigures> runs;
  };

  // --fail-on, --unit, --level, --json, and the options of the traces.
  void define_options(Arguments& arguments);

  // No option was given.
  bool is_plain() const;

  // Fails with an exit code of its own if a condition of --fail-on holds, or cannot be decided.
  Result<void> run(const std::vector<std::string>& base, const std::vector<std::string>& now) const;

  // run() in steps: reads one more run of a side, and compares the runs so far. `turns`: set if the
  // comparison was looked at after each run, so that verdicts use a test that allows for that.
  Result<void> read_next(Side& side, const std::string& path) const;
  Result<void> compare(const std::array<Side, 2>& sides,
                       const differential::RunsInTurns* turns) const;

  double level() const { return level_; }
  bool is_of_blocks() const { return unit_ == "block"; }

 private:
  std::vector<std::string> fail_on_;
  TracesToCompare traces_;
  std::string unit_ = "auto";
  double level_ = 0.05;
  bool causes_ = false;
  bool json_ = false;
};

// Explains the columns, for the foot of the help.
std::string comparison_words();

}  // namespace sojourn::cli
