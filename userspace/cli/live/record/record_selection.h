// The options that select events: --points GLOB and --where EXPR. Points that are not selected, and
// those for whose events the expression can never be true, are not armed at all. For the others the
// engines test the expression as far as they can, and the collector tests the rest.
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

  // Leaves in each process's points those to record, and completes `how`. Points that were asked
  // for must be in one of the processes, or, for a script, in the first programs that it executes.
  Result<void> apply(std::vector<tracee::Points>& all, capture::Options& how) const;

  bool asks_for(filter::Keyword word) const;  // returns whether the expression does

 private:
  Result<void> check(const model::Schema& schema) const;

  std::vector<std::string> globs_;  // with a '!' in front: points to leave out
  WhereOption where_;
};

}  // namespace sojourn::cli
