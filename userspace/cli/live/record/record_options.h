// The options of `sojourn record`, and the capture's options that they make.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/live/record/auto_options.h"
#include "userspace/cli/live/record/collector_options.h"
#include "userspace/cli/live/record/context_options.h"
#include "userspace/cli/live/record/energy_options.h"
#include "userspace/cli/live/record/flight_options.h"
#include "userspace/cli/live/record/metrics_options.h"
#include "userspace/cli/live/record/perf_options.h"
#include "userspace/cli/live/record/post_mortem_options.h"
#include "userspace/cli/live/record/process_options.h"
#include "userspace/cli/live/record/queue_options.h"
#include "userspace/cli/live/record/record_selection.h"
#include "userspace/cli/live/record/snapshot_recording.h"
#include "userspace/cli/live/record/stream_options.h"

namespace sojourn::cli {

// The mechanism for placing probes.
enum class Attach { kAuto, kMulti, kPerf };
enum class EngineWanted { kAuto, kBpf, kRing };

struct RecordOptions {
  // Declares the options. This object must live as long as the arguments.
  void define(Arguments& arguments);
  // Declares the options without those for a trace file, for `sojourn live` and `serve`.
  void define_capture(Arguments& arguments);

  ProcessOptions processes;
  std::vector<std::string> command;
  std::string output = "run.sjt";
  std::string duration;
  std::string ring_size;
  std::string ring_memory;
  std::string poll;
  std::string budget;  // "5", "none"; empty: as usual
  bool loses_oldest = false;
  EngineWanted engine = EngineWanted::kAuto;
  Attach attach = Attach::kAuto;
  ContextWanted context;
  PerfWanted perf;
  QueueOptions queues;
  EnergyWanted energy;
  RecordSelection selection;
  bool quiet = false;
  // Set by `sojourn live`: the trace goes to this sink, and `live` reports the end itself.
  std::function<std::unique_ptr<trace::ByteSink>()> sink;
  FlightOptions flight;
  CollectorOptions collector;
  AutoOptions automatic;
  PostMortemOptions post_mortem;
  SnapshotOption snapshot;
  StreamOptions stream;
  MetricsChoice metrics;

  // Returns whether it records rings that the target fills by itself, so that nothing is attached.
  bool is_snapshot() const { return snapshot.is_asked() || flight.is_rings(); }

  // The options for the capture, without the processes.
  Result<capture::Options> for_capture() const;

 private:
  void define_budget(Arguments& arguments);
  void define_buffers(Arguments& arguments);
  void define_engines(Arguments& arguments);
};

// Runs `sojourn record`.
Result<void> run_record(RecordOptions& options);

}  // namespace sojourn::cli
