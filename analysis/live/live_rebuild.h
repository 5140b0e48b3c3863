// Rebuilds journeys of events that come in time order, and keeps the figures of the last seconds:
// latencies, stays and depths, and the slowest packets with their reasons. Memory is that of the
// Rebuilder, of the windows, and of the few seconds that reasons are looked for in. One thread owns
// a LiveRebuild.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/causes/context_name_table.h"
#include "analysis/causes/explainer.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/filter/syntax.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/journeys/rules.h"
#include "analysis/live/live_figures.h"
#include "analysis/live/worst_packets.h"
#include "analysis/pipeline/filtering_observer.h"
#include "analysis/trace/event_stage.h"

namespace sojourn::live {

// A script that works on the events; the objects that it refers to must outlive it.
struct LiveScript {
  std::shared_ptr<trace::EventStage> events;
  std::function<bool(const journeys::Journey&)> keeps;  // empty: all journeys
  std::function<std::string()> notice;  // about a part that has ended; an empty text: none has
  // The reason if its results are wrong from now on; else empty
  std::function<std::string()> failure;
};

struct LiveOptions {
  journeys::Rules rules;
  std::uint64_t interval_ns = 1'000'000'000;
  std::size_t window_s = 10;
  std::size_t worst = 10;  // packets that are shown
  bool explains = true;    // the slowest packets
  // The memory for events of a growing trace that wait for their turn. Beyond it, events count
  // after a second.
  std::size_t max_waiting_bytes = std::size_t{64} << 20;
  // For a growing trace: returns the view's processor time so far; `budget` is the share of a core
  // that it may take. If rebuilding all packets would take more, only those of some UEs are
  // rebuilt. Empty: no limit.
  std::function<std::uint64_t()> processor_ns = {};
  double budget = 0;
  // Makes a script for the trace's points, and another one when points are added. Empty: no script.
  std::function<Result<LiveScript>(const model::Schema&, std::uint64_t open_ns)> script = {};
};

// The filter of the journeys that count, and its text; no expression: all count.
struct Choice {
  std::optional<filter::Expression> expression;
  std::string text;
};

class LiveRebuild final : journeys::Observer {
 public:
  // The arguments must outlive it. The metadata may grow, except for the points.
  static Result<std::unique_ptr<LiveRebuild>> create(
      const causes::TraceMetadata& source, journeys::CaptureMarks marks, std::uint64_t origin_ns,
      const LiveOptions& options, const Choice& choice, const LiveScript& script = {});

  // Events must come in time order.
  void consume(const model::EventBatch& events);
  void advance(std::uint64_t now_ns);
  void finish();

  // Counts other journeys from now on. If the expression does not fit the points, it fails and
  // changes nothing.
  Result<void> choose(const Choice& choice);
  void know_names();  // reads the trace's new names
  // Begins the figures "since the start" anew at this time.
  void begin_anew(std::uint64_t now_ns);

  const std::shared_ptr<const journeys::Topology>& topology() const { return topology_; }
  const journeys::Totals& totals() const { return rebuilder_->totals(); }
  void fill(Snapshot& snapshot) const;

 private:
  LiveRebuild(const causes::TraceMetadata& source,
              std::shared_ptr<const journeys::Topology> topology, std::uint64_t origin_ns,
              const LiveOptions& options);

  bool wants_steps() const override { return true; }
  bool wants_steps_of(const journeys::Journey& journey) const override;
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override;
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    figures_.on_enter(place, ts_ns);
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    figures_.on_leave(place, entered_ns, ts_ns, seen);
  }
  std::uint64_t second_of(std::uint64_t ts_ns) const {
    return ts_ns <= origin_ns_ ? 0 : (ts_ns - origin_ns_) / 1'000'000'000;
  }

  causes::TraceMetadata source_;
  std::shared_ptr<const journeys::Topology> topology_;
  std::uint64_t origin_ns_;
  LiveOptions options_;
  LiveFigures figures_;
  causes::ContextNameTable names_;
  WorstPackets worst_;
  std::optional<causes::Explainer> explainer_;
  std::optional<filter::JourneyFilter> filter_;
  std::function<bool(const journeys::Journey&)> script_keeps_;
  bool is_kept_ = true;  // whether the filter keeps the journey that is being reported
  pipeline::FilteringObserver kept_;
  std::optional<journeys::Rebuilder> rebuilder_;
};

}  // namespace sojourn::live
