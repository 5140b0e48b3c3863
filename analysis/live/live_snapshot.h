// The figures of one instant for all forms of `sojourn live`. Plain data; it points into the
// LiveTrace that made it, and is valid until that changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/context_name_table.h"
#include "analysis/causes/verdict.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/schema.h"

namespace sojourn::live {

struct Quantiles {
  std::uint64_t count = 0;
  double per_s = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p90_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  std::uint64_t max_ns = 0;
};

// A direction's latency, or the stay in a place.
struct TimesRow {
  model::Direction direction = model::Direction::kDownlink;
  std::string name;  // "ip.in -> phy.out", "rlc.tx.am"
  Quantiles window;
  Quantiles all;
  std::vector<std::uint64_t> p99_by_second;  // the oldest first
};

struct DirectionRow {
  TimesRow times;
  std::uint64_t complete = 0;
  std::uint64_t dropped = 0;
  std::uint64_t censored = 0;
  std::uint64_t incomplete = 0;
};

// The units in a place are a queue.
struct QueueRow {
  model::Direction direction = model::Direction::kDownlink;
  std::string name;
  std::uint64_t now = 0;
  std::uint64_t window_max = 0;
  std::uint64_t max = 0;
  std::uint64_t entered = 0;
  std::uint64_t given_up = 0;  // units that were never seen to leave, so `now` is too high
};

// The UEs or bearers whose packets are rebuilt, if rebuilding all packets would take too much.
struct SampledOwners {
  std::uint64_t owners = 0;  // that are rebuilt
  std::uint64_t of = 0;      // that had events
  double events_share = 1;   // of the events that belong to one
};

struct LossRow {
  model::LossCause cause = model::LossCause::kRingFull;
  std::uint64_t count = 0;
};

struct Snapshot {
  std::string path;
  std::string target;  // "nr-softmodem, pid 4242"
  std::int32_t pid = 0;
  std::uint64_t open_ns = 0;  // the origin of times
  std::uint64_t now_ns = 0;   // everything before is in the figures
  double window_s = 0;        // the length of the window so far
  double since_s = 0;         // the length of the time since the start
  bool has_ended = false;
  std::string ended_by;
  std::string filter;  // of the journeys that count; empty: all do

  std::uint64_t events = 0;
  double events_per_s = 0;        // in the last interval
  std::uint64_t lost = 0;         // as the trace's ledger counts
  std::uint64_t lost_before = 0;  // lost, at the interval before
  std::uint64_t left_out = 0;     // events that came too late for the figures
  std::uint64_t damaged = 0;      // places of the trace
  std::uint64_t restarts = 0;     // times that figures began anew, as points came that were new
  std::vector<LossRow> losses;
  std::optional<SampledOwners> sample;  // none: all packets are rebuilt

  double cost_ns = 0;                  // of the target's CPU time for hits, as measured
  std::optional<double> cost_share;    // the share of all of that time
  std::optional<double> tracer_cores;  // of the capture now, in cores
  std::optional<double> view_cores;    // and this view

  std::vector<DirectionRow> directions;
  std::vector<TimesRow> places;  // in the order of the path
  std::vector<QueueRow> queues;

  std::vector<TimesRow> activities;  // of a script
  std::vector<TimesRow> markers;     // of a script; they take no time
  std::string script_error;          // it has ended by that, and the rest goes on without it

  std::vector<causes::Verdict> worst;                  // of the window, the slowest first
  std::shared_ptr<const journeys::Topology> topology;  // of the verdicts' places
  const causes::ContextNameTable* names = nullptr;
  const model::Schema* schema = nullptr;
};

}  // namespace sojourn::live
