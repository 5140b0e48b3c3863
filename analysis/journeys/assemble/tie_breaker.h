// Events of one instant, put in the order of the pipeline: those that enter it earlier come first.
// In what was imported nobody knows the threads (they are 0), and an instant may be a whole
// microsecond, in which a unit goes on and the next one comes to the same address: there the
// recording's own order says more, and what comes before its parent is waited for as other late
// ones are.
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

  // Of a batch in time order, once all events of an instant are known: `taker.note(event)` for each
  // of the target's as they came, then `taker.process(event)`.
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

  // Nothing comes any more.
  template <typename Taker>
  void release(Taker& taker) {
    pass_on(held_, 0, held_.size(), taker);
    held_.clear();
  }

 private:
  // Whole instants. Mostly one event is one.
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
  model::EventBatch held_;  // until all others of their instant are here
  std::vector<std::size_t> gathered_;
};

}  // namespace sojourn::journeys
