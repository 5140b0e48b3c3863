// The options of `record` for the queue sampler, and the source that they ask for.
#pragma once

#include <memory>
#include <string>

#include "analysis/model/queue_info.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

struct QueueOptions {
  bool wanted = false;
  std::string period;
  model::SamplingMode mode = model::SamplingMode::kAdaptive;
  int cpu = -1;
};

void define_queue_options(Arguments& arguments, QueueOptions& options);

// Refuses options that contradict each other.
void check_queue_options(const Arguments& arguments, const QueueOptions& options);

// Call it once all arguments are parsed. It adds nothing if no sampling was requested.
Result<void> add_queue_sampler(const QueueOptions& options, capture::Options& how);

}  // namespace sojourn::cli
