// Handles recorded processes that end: the capture ends with the last of them, and the engines of
// the others are removed, so that a program that forks all day does not cost more and more. The
// capture's thread owns it; a thread inside removes probes. What it refers to outlives it.
#pragma once

#include <span>
#include <vector>

#include <poll.h>

#include "analysis/base/result.h"
#include "userspace/capture/output/async_destroyer.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/processes/process_news.h"
#include "userspace/capture/processes/script_launch.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/source_set.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class ProcessExits final : public Ticker {
 public:
  ProcessExits(const Options& options, TracedProcesses& processes, SourceSet& sources,
               CaptureRecord& record, CaptureOutput& output, ScriptLaunch& launch,
               ProcessNews& news);

  // Adds descriptors that are readable once a process has ended; take() gets what poll() found.
  void add_pidfds(std::vector<pollfd>& watched) const;
  Result<void> take(std::span<const pollfd> watched, const Listener& listener);

  // Takes the last events of ended processes and removes their engines.
  Result<void> tick(const Listener& listener) override;

 private:
  Result<bool> drain(EventEngine& engine);
  Result<bool> retire(TracedProcess& process);
  void forget_retired();

  const Options* options_;
  TracedProcesses* processes_;
  SourceSet* sources_;
  CaptureRecord* record_;
  CaptureOutput* output_;
  ScriptLaunch* launch_;
  ProcessNews* news_;
  AsyncDestroyer destroyer_;
};

}  // namespace sojourn::capture
