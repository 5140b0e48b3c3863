// Puts the events of one instant in the order of the pipeline: those of earlier points come first.
//
// Imported traces do not know threads (0), and their instant may be a whole microsecond. A unit may
// leave an address in it, and the next one come to the same address. There the order of the
// recording is better, and a child that comes before its parent waits for it (LateEvents).
// One thread owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class TieBreaker {
 public:
  explicit TieBreaker(const Topology& topology) : points_(topology.points) {}

  // Takes a batch in time order. Once all events of an instant are known, calls `taker.note(event)`
  // for each event of the target as they came, and then `taker.process(event)` in order.
  template <typename Taker>
  void consume(const model::EventBatch& events, Taker& taker) {
    const auto stamps = events.ts_ns();
    std::size_t first = 0;
    if (!held_.empty()) {
      const auto held_ns = held_.ts_ns().front();
      while (first < stamps.size() && stamps[first] == held_ns) ++first;
      held_.append(events, 0, first);
      if (first == stamps.size()) return;
      release(taker);
    }
    auto last = stamps.size();
    while (last > first && stamps[last - 1] == stamps.back()) --last;
    pass_on(events, first, last, taker);
    held_.append(events, last, stamps.size() - last);
  }

  // No events come any more.
  template <typename Taker>
  void release(Taker& taker) {
    pass_on(held_, 0, held_.size(), taker);
    held_.clear();
  }

 private:
  // Passes on whole instants. Mostly an instant has one event.
  template <typename Taker>
  void pass_on(const model::EventBatch& events, std::size_t row, std::size_t end, Taker& taker) {
    const auto stamps = events.ts_ns();
    const auto points = events.point();
    while (row < end) {
      const auto first = row++;
      if (row < end && stamps[row] == stamps[first]) {
        while (row < end && stamps[row] == stamps[first]) ++row;
        pass_on_together(events, first, row, taker);
      } else if (is_of_target(points[first])) {
        const auto event = events[first];
        taker.note(event);
        taker.process(event);
      }
    }
  }

  template <typename Taker>
  void pass_on_together(const model::EventBatch& events, std::size_t first, std::size_t end,
                        Taker& taker) {
    gathered_.clear();
    for (auto row = first; row < end; ++row)
      if (is_of_target(events.point()[row])) gathered_.push_back(row);
    for (const auto row : gathered_) taker.note(events[row]);
    arrange(events);
    for (const auto row : gathered_) taker.process(events[row]);
  }

  bool is_of_target(PointId point) const {
    return point >= points_.size() || points_[point].of_target;
  }

  void arrange(const model::EventBatch& events) {
    const auto is_known = [&](std::size_t row) { return events.tid()[row] != 0; };
    if (std::ranges::none_of(gathered_, is_known)) return;
    std::ranges::stable_sort(gathered_, {}, [&](std::size_t row) {
      const auto point = events.point()[row];
      return point < points_.size() ? points_[point].rank : 0;
    });
  }

  std::span<const PointPlan> points_;
  model::EventBatch held_;  // events of the latest instant, which may have more
  std::vector<std::size_t> gathered_;
};

}  // namespace sojourn::journeys
