// How `sojourn record` itself runs beside the target: on which CPU, and how urgent it is.
#pragma once

#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class CollectorOptions {
 public:
  void define(Arguments& arguments);

  // Of this thread and those that it starts from now on. A command that is traced is started
  // before, so that it does not run like a collector.
  Result<void> apply() const;

  // Nobody said how urgent it is to be, nor where it is to run.
  bool is_default() const { return priority_.empty() && !cpu_; }

 private:
  std::string priority_;  // empty: patient
  std::optional<unsigned> cpu_;
};

}  // namespace sojourn::cli
