// The figures of journeys in `sojourn live`, gathered while they are rebuilt: latency of each
// direction, the stay in each place, depths, outcomes; in the last seconds and since the start.
// Memory is that of the windows. One thread owns a LiveFigures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/live/depth_window.h"
#include "analysis/live/live_snapshot.h"
#include "analysis/live/sliding_times.h"

namespace sojourn::live {

class LiveFigures : public journeys::Observer {
 public:
  // Seconds count from `open_ns` on.
  LiveFigures(std::shared_ptr<const journeys::Topology> topology, std::uint64_t open_ns,
              std::size_t window_s);

  bool wants_steps() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override;
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;

  // Activities and markers of a script, which are the last points of the schema.
  void know_script(const model::Schema& schema);
  void consume(const model::EventBatch& events);

  void advance(std::uint64_t now_ns);
  // Times and outcomes count from now on only, as other journeys are chosen. Depths go on.
  void begin_anew(std::uint64_t now_ns);

  // Rows without names.
  void fill(Snapshot& snapshot) const;
  const DepthWindow& depth(std::size_t place) const { return depths_[place]; }
  const SlidingTimes& place(std::size_t place) const { return places_[place]; }

 private:
  struct Direction {
    explicit Direction(std::size_t window_s) : latency(window_s) {}
    SlidingTimes latency;
    std::uint64_t complete = 0;
    std::uint64_t dropped = 0;
    std::uint64_t censored = 0;
    std::uint64_t incomplete = 0;
  };

  std::uint64_t second_of(std::uint64_t ts_ns) const {
    return ts_ns <= open_ns_ ? 0 : (ts_ns - open_ns_) / 1'000'000'000;
  }
  double window_s(std::uint64_t now_ns) const;
  TimesRow row_of(const SlidingTimes& times, double window_s, double since_s) const;

  std::shared_ptr<const journeys::Topology> topology_;
  std::uint64_t open_ns_;
  std::uint64_t since_ns_;
  std::uint64_t now_ns_;
  std::size_t window_seconds_;
  std::vector<Direction> directions_;                        // by kPacketDirections
  std::vector<std::optional<std::uint16_t>> place_of_pair_;  // unset: of drops and acknowledgements
  std::vector<SlidingTimes> places_;
  std::vector<DepthWindow> depths_;

  struct Made {
    std::string name;
    std::optional<std::size_t> duration;  // the field; none: a marker
    SlidingTimes times;
  };
  std::size_t first_made_ = 0;  // point
  std::vector<Made> made_;      // by point, from the first on
};

}  // namespace sojourn::live
