// The options of a capture, its reports while it runs, and its result. Plain data; Options are
// copied into the capture, which does not change them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/syntax.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/control/trigger.h"
#include "userspace/capture/metrics/metrics_service.h"
#include "userspace/capture/output/dumps.h"
#include "userspace/capture/output/item_store.h"
#include "userspace/capture/output/source.h"
#include "userspace/capture/session/budget_limits.h"
#include "userspace/capture/session/engine_choice.h"
#include "userspace/capture/stream/stream_server.h"
#include "userspace/tracee/cgroup.h"
#include "userspace/tracee/code_watch.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::trace {
class ByteSink;
}

namespace sojourn::capture {

// A process that is to be recorded, and which of its points.
struct Subject {
  tracee::Process process;
  tracee::Points points;
  tracee::CodeWatch code = {};  // what it executed when its points were searched
};

struct Options {
  std::string output;
  // The destination of the trace instead of a file of that name. Empty: the file.
  std::function<std::unique_ptr<trace::ByteSink>()> sink;
  std::string machine;  // measurements of this machine, for readers of the trace
  // Set for a flight recorder: the newest events are held in memory, and written on request.
  std::optional<History> flight;
  Aftermath aftermath;
  std::vector<Trigger> triggers;  // for the flight recorder
  unsigned max_dumps = 10;        // that triggers may cause: a disk is finite
  bool wait_for_start = false;    // armed, but nothing counts before `sojourn ctl start`
  std::optional<std::chrono::nanoseconds> duration;  // from the open mark on
  EngineOptions engines;
  StreamOptions stream;    // readers of the blocks, while they are written
  MetricsOptions metrics;  // receivers of figures for monitoring
  // Events that are no full block yet are written, and sent to readers, as often as this.
  std::chrono::nanoseconds flush_period = std::chrono::seconds(1);
  bool loses_oldest = false;                // when the sink falls behind
  std::optional<filter::Expression> where;  // events for which it is false are left out
  std::optional<BudgetLimits> budget;       // the most of the target's CPU that its points may take
  // Sources besides the engines, in the order in which they are armed: after the engines.
  std::vector<std::function<Result<std::unique_ptr<Source>>(const tracee::Process&)>> others;
  bool may_lack_points = false;  // the other sources are enough for a capture

  // The only subject is a command that is not started yet, see Capture::has_begun().
  bool is_command = false;
  // The command has no points itself, because it is a script or the like, but programs that it
  // executes may have some. Those record from their first instruction on, and leave their rings in
  // a directory.
  bool launches = false;
  std::string launch_directory;
  // Checks the request against the first points that such a command has.
  std::function<Result<void>(const model::Schema&)> check;

  // Processes that come into this group while the capture runs are recorded as well.
  std::optional<tracee::Cgroup> cgroup;
  bool follow = false;  // record forked children as well, and theirs
  // Finds the points of processes and libraries that come later. Empty: those that they were built
  // with.
  std::function<Result<tracee::Points>(const tracee::Process&)> find;
  // Selects the points of processes and libraries that come later. Empty: all.
  std::function<tracee::Points(tracee::Points)> select;
  // The tests that a hit of each point must pass, as far as eBPF can make them.
  std::function<PointTests(const model::Schema&)> tests;
};

// How the points of the targets are recorded: sums over all processes at the start.
struct Coverage {
  std::size_t processes = 0;
  std::size_t sites = 0;
  std::size_t ring_points = 0;
  std::size_t bpf_points = 0;
  std::size_t uncovered_points = 0;
  std::string why_not_rings;  // rings were wanted, and are not available
  std::string why_not_bpf;
  std::optional<Mechanism> mechanism;  // of eBPF
  std::chrono::nanoseconds attach_time{};
  std::string why_no_costs;         // of eBPF's hits
  bool has_unsteady_times = false;  // rings are stamped with a counter that does not tick steadily
  std::string why_only_looks;       // forks are not reported, but looked for in /proc
  bool has_context = false;         // of any family
  bool has_thread_states = false;   // the scheduler's events, which show what threads do
};

struct Progress {
  std::chrono::nanoseconds elapsed{};
  std::uint64_t events = 0;
  std::uint64_t lost = 0;
  std::uint64_t bytes = 0;
};

// Callbacks for reports while a capture runs.
struct Listener {
  std::function<void(const Progress&)> progress;  // about once a second
  std::function<void(const std::string&)> say;    // a line, when something happens
};

struct Outcome {
  std::string path;  // of the last trace that was written; empty: none was
  unsigned dumps = 0;
  model::Capture capture;
  std::uint64_t events = 0;        // of the target's points
  std::uint64_t other_events = 0;  // of the other sources
  std::uint64_t lost = 0;
  std::uint64_t filtered = 0;
  std::uint64_t bytes = 0;
  BlockFeed::Totals streamed;
  bool has_cut_off_readers = false;            // that took nothing any more at the end
  std::uint64_t reconnections = 0;             // to readers that it had connected to
  std::optional<InfluxSender::Totals> influx;  // totals of InfluxDB; empty: it was not asked for
  std::vector<std::string> never_hit;          // names of points that were on
  std::size_t switched = 0;  // points that were off, or that triggers have switched
  std::optional<RingAdvice> rings;
};

}  // namespace sojourn::capture
