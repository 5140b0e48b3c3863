// The compared figures of one trace: the times of its packets, the depths of its places, its flow
// and the time of tracing. Places and points are identified by names, so that traces of different
// builds can be compared. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/differential/flow.h"
#include "analysis/differential/segment_ranking.h"
#include "analysis/differential/time_errors.h"
#include "analysis/journeys/journey.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/pipeline/trace_input.h"

namespace sojourn::differential {

struct DepthOfPlace {
  char direction = 'D';
  std::string place;
  std::vector<float> units;  // the mean number, in slices of the trace
};

struct RunFigures {
  std::string path;
  std::string target;
  std::string build_id;
  std::uint64_t begin_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t events = 0;
  std::array<RunOfPackets, 2> packets;  // downlink, uplink
  std::vector<DepthOfPlace> depths;
  std::vector<FlowOfDirection> flows;
  std::uint64_t clock_error_ns = 0;  // stamps that were nearer ordered nothing
  // The same for two stamps of one host, by host of a merged trace. Empty: the trace has one host,
  // or one error was asked for.
  std::vector<std::uint64_t> host_clock_errors_ns;
  std::array<TimeErrors, 2> time_errors;
  std::optional<double> tracing_share;          // of the target's CPU time
  std::optional<double> tracing_ns_per_packet;  // of the target's time
  double off_share = 0;                         // of the time: how long a point was off
  std::uint64_t left_out = 0;                   // packets that were more than are kept
};

// Stamps are in nanoseconds, so no trace shows a smaller shift.
constexpr double kUnitOfTimeNs = 1;

// How far this latency or stay may be off in all of the run.
double time_error_ns(const RunFigures& run, char direction, std::string_view name, bool is_latency);

struct RunOptions {
  double least_share = 1;
  std::optional<std::uint64_t> clock_error_ns;           // empty: as the trace says of its stamps
  std::function<bool(const journeys::Journey&)> wanted;  // empty: all
};

Result<RunFigures> read_figures(Executor& executor, pipeline::TraceInput& input,
                                const RunOptions& options, pipeline::Progress progress);

}  // namespace sojourn::differential
