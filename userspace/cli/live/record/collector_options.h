// The CPU and the priority of `sojourn record` itself.
#pragma once

#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class CollectorOptions {
 public:
  void define(Arguments& arguments);

  // Applies to this thread and those that it starts from now on. A traced command is started
  // before, so that it keeps its own CPUs and priority.
  Result<void> apply() const;

  // Returns whether neither priority nor CPU was given.
  bool is_default() const { return priority_.empty() && !cpu_; }

 private:
  std::string priority_;  // empty: patient
  std::optional<unsigned> cpu_;
};

}  // namespace sojourn::cli
