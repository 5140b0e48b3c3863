// The traces that a command compares: reads and rebuilds them one after the other, with the options
// that all such commands have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/causes/explainer.h"
#include "analysis/differential/cause_change.h"
#include "analysis/differential/run_figures.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {

class TracesToCompare {
 public:
  // --where, --rules, --share and --clock-error.
  void define_options(Arguments& arguments);

  bool is_plain() const;  // no option was given

  // Reads the traces in their order. Traces that are not whole are reported on stderr.
  Result<std::vector<differential::RunFigures>> read(const std::vector<std::string>& paths) const;
  // Why packets of them were late; reads each again.
  Result<std::vector<differential::RunCauses>> read_causes(const std::vector<std::string>& paths,
                                                           const causes::Deadlines& late) const;

 private:
  double least_percent_ = 100;
  std::string clock_error_;
  WhereOption where_;
  RulesOption rules_;
};

// --level: the share of comparisons without a difference that may report one.
void define_level(Arguments& arguments, double& level);

}  // namespace sojourn::cli
