// A trace for Perfetto: each journey as a flow over the tracks of its threads, the stays of its
// units in lanes of their place, queues as counters, the scheduler's actions. An Observer of the
// rebuild that also sees all events. Memory grows with threads and places, not with the trace. One
// thread owns a PerfettoTrace; its arguments must outlive it. docs/exports.md describes the tracks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/context/thread_states.h"
#include "analysis/exports/lanes.h"
#include "analysis/exports/output.h"
#include "analysis/exports/perfetto_packets.h"
#include "analysis/exports/trace_names.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/trace/reader.h"

namespace sojourn::exports {

class PerfettoTrace : public journeys::Observer {
 public:
  PerfettoTrace(const trace::Reader& reader, const journeys::Topology& topology,
                const TraceNames& names, Write write);

  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  // In time order.
  void consume(const model::EventBatch& events);
  // Behind the last event.
  Result<void> finish();

  bool is_good() const { return packets_.is_good(); }

 private:
  // Tracks of one name, side by side.
  struct LaneGroup {
    std::string name;
    Lanes lanes;
    std::vector<std::uint64_t> tracks;
  };

  void describe_trace();
  void describe_losses();
  std::uint64_t new_track() { return ++last_track_; }
  std::uint64_t process_track(std::int32_t pid);
  std::uint64_t thread_track(std::uint32_t stream, std::uint32_t tid);
  void add_slice(LaneGroup& group, std::uint64_t begin_ns, std::uint64_t end_ns, std::uint32_t name,
                 std::uint64_t journey,
                 std::span<const PerfettoPackets::ArgumentValue> arguments = {});
  void add_steps(const journeys::Journey& journey);
  void add_stays(const journeys::Journey& journey);
  void take_span(const context::ThreadSpan& span);
  void count_queue(const model::EventView& event);
  void describe_script();
  void add_made(const model::EventView& event);

  const trace::Reader& reader_;
  const journeys::Topology& topology_;
  const TraceNames& names_;
  PerfettoPackets packets_;
  // Track numbers begin at a value that other traces are unlikely to use.
  std::uint64_t last_track_;
  std::uint64_t flow_base_;
  std::unordered_map<std::int32_t, std::uint64_t> processes_;
  std::unordered_map<std::uint64_t, std::uint64_t> threads_;  // by process and thread
  std::unordered_map<std::uint64_t, std::uint64_t> queues_;   // counters, by id
  std::vector<LaneGroup> places_;
  std::vector<std::uint32_t> place_names_;
  std::vector<std::uint32_t> point_names_;
  // A point that a script made: an activity has lanes of its name, a marker is on its thread's
  // track.
  struct Made {
    std::uint32_t name = 0;
    std::optional<std::size_t> duration;   // the field; none: a marker
    std::vector<std::uint32_t> arguments;  // names, by field
    LaneGroup lanes;
  };
  std::size_t first_made_ = 0;  // point
  std::vector<Made> made_;      // by point, from the first on
  std::vector<PerfettoPackets::ArgumentValue> arguments_;
  LaneGroup down_;
  LaneGroup up_;
  LaneGroup losses_;
  std::optional<context::ThreadStates> states_;
  std::unordered_map<std::uint32_t, context::State> states_by_thread_;
  std::uint64_t last_ns_ = 0;
};

}  // namespace sojourn::exports
