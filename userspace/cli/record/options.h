// What `sojourn record` may be asked for, on its command line, and what that means for a capture.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/record/auto.h"
#include "userspace/cli/record/collector.h"
#include "userspace/cli/record/context.h"
#include "userspace/cli/record/flight.h"
#include "userspace/cli/record/held.h"
#include "userspace/cli/record/perf.h"
#include "userspace/cli/record/post_mortem.h"
#include "userspace/cli/record/processes.h"
#include "userspace/cli/record/queues.h"
#include "userspace/cli/record/selection.h"

namespace sojourn::cli {

// How probes are placed.
enum class Attach { kAuto, kMulti, kPerf };
enum class EngineWanted { kAuto, kBpf, kRing };

struct RecordOptions {
  // They live as long as the arguments.
  void define(Arguments& arguments);

  ProcessOptions processes;
  std::vector<std::string> command;
  std::string output = "run.sjt";
  std::string duration;
  std::string ring_size;
  std::string ring_memory;
  std::string poll;
  double budget_percent = 0;
  bool loses_oldest = false;
  EngineWanted engine = EngineWanted::kAuto;
  Attach attach = Attach::kAuto;
  ContextWanted context;
  PerfWanted perf;
  QueueOptions queues;
  RecordSelection selection;
  bool quiet = false;
  FlightOptions flight;
  CollectorOptions collector;
  AutoOptions automatic;
  PostMortemOptions post_mortem;
  SnapshotOption snapshot;

  // Rings that the target fills by itself: nothing is attached.
  bool is_held() const { return snapshot.is_asked() || flight.is_rings(); }

  // As the capture is told; the processes are not in it.
  Result<capture::Options> for_capture() const;

 private:
  void define_budget(Arguments& arguments);
  void define_buffers(Arguments& arguments);
  void define_engines(Arguments& arguments);
};

}  // namespace sojourn::cli
