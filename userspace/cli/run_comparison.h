// Compares traces of two sides and prints what differs: what `diff` and `ab` have in common. One
// command owns a RunComparison.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/traces_to_compare.h"

namespace sojourn::cli {

class RunComparison {
 public:
  // --fail-on, --unit, --level, --json, and the options of the traces.
  void define_options(Arguments& arguments);

  // An error of its own exit code where a condition of --fail-on holds, or cannot be told.
  Result<void> run(const std::vector<std::string>& base, const std::vector<std::string>& now) const;

 private:
  std::vector<std::string> fail_on_;
  TracesToCompare traces_;
  std::string unit_ = "auto";
  double level_ = 0.05;
  bool causes_ = false;
  bool json_ = false;
};

// What the columns mean, for the foot of the help.
std::string comparison_words();

}  // namespace sojourn::cli
