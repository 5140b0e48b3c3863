// `sojourn record --auto`: chooses what to record of an unknown program, and for how long. Options
// that the user gave stay as they are.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/live/record/context_options.h"
#include "userspace/cli/live/record/perf_options.h"
#include "userspace/cli/live/record/process_options.h"
#include "userspace/cli/live/record/queue_options.h"

namespace sojourn::cli {

// The options that it fills in.
struct AutoParts {
  const ProcessOptions& processes;
  ContextWanted& context;
  PerfWanted& perf;
  QueueOptions& queues;
  std::string& duration;
  bool may_be_endless = false;  // a flight recorder is
};

struct AutoOptions {
  bool wanted = false;

  void define(Arguments& arguments);
  // Looks at the machine for a tenth of a second, to see whether system calls are affordable.
  Result<void> fill_in(const AutoParts& parts, bool quiet) const;
};

}  // namespace sojourn::cli
