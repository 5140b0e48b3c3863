// Events of one instant, put in the order of the pipeline: those that enter it earlier come first.
// In what was imported nobody knows the threads (they are 0), and an instant may be a whole
// microsecond, in which a unit goes on and the next one comes to the same address: there the
// recording's own order says more, and what comes before its parent is waited for as other late
// ones are.
// One thread owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class Instants {
 public:
  explicit Instants(const Topology& topology) : topology_(topology) {}

  // Of a batch in time order: `note(event)` for each event of the target, as it comes, and
  // `process(event)` once all others of its instant are known.
  template <typename Note, typename Process>
  void consume(const model::EventBatch& events, Note note, Process process) {
    const auto stamps = events.ts_ns();
    const auto points = events.point();
    const auto known = topology_.points.size();
    for (std::size_t row = 0; row < stamps.size(); ++row) {
      if (points[row] < known && !topology_.points[points[row]].of_target) continue;
      const auto event = events[row];
      note(event);
      if (!held_.empty() && held_.ts_ns().front() != event.ts_ns) release(process);
      const bool alone = held_.empty() && row + 1 < stamps.size() && stamps[row + 1] != event.ts_ns;
      if (alone)
        process(event);
      else
        held_.append(event);
    }
  }

  // Nothing comes any more.
  template <typename Process>
  void release(Process process) {
    order_.resize(held_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const bool from_threads = std::ranges::any_of(held_.tid(), [](auto tid) { return tid != 0; });
    if (held_.size() > 1 && from_threads) {
      std::ranges::stable_sort(order_, {}, [this](std::size_t row) {
        const auto point = held_.point()[row];
        return point < topology_.points.size() ? topology_.points[point].rank : 0;
      });
    }
    for (const auto row : order_) process(held_[row]);
    held_.clear();
  }

 private:
  const Topology& topology_;
  model::EventBatch held_;  // until all others of their instant are here
  std::vector<std::size_t> order_;
};

}  // namespace sojourn::journeys
