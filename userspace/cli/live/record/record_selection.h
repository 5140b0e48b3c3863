// What of its targets `record` is to record: --points GLOB and --where EXPR. Points that are not
// asked for, and those for whose events the expression can never be true, are not armed at all. Of
// the others the expression goes to the engines as far as they can judge it, and to the collector.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/where_option.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::cli {

class RecordSelection {
 public:
  void define(Arguments& arguments);

  // Leaves in each of the processes' points those to record; tells `how` the rest. What is asked
  // for must be in one of them, or of a command that launches others in the first that come.
  Result<void> apply(std::vector<tracee::Points>& all, capture::Options& how) const;

  bool asks_for(filter::Keyword word) const;  // whether the expression does

 private:
  Result<void> check(const model::Schema& schema) const;

  std::vector<std::string> globs_;  // with a '!' in front: what is left out
  WhereOption where_;
};

}  // namespace sojourn::cli
