// Events that wait a little for a parent: clocks of two threads need not agree, so a parent may be
// stamped after its child. Who takes an event says whether it found one. The events are kept in the
// order in which they came. One thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class LateEvents {
 public:
  explicit LateEvents(const Topology& topology) : topology_(topology) {}

  bool empty() const { return waiting_.empty(); }
  std::uint64_t oldest_ns() const { return waiting_.front().event.ts_ns; }

  void add(const model::EventView& event) {
    waiting_.push_back({event, {event.values.begin(), event.values.end()}});
  }

  // The oldest one's time is over: `take(event)`.
  template <typename Take>
  void end_oldest(Take take) {
    const auto late = std::move(waiting_.front());
    waiting_.pop_front();
    take(late.view());
  }

  // What a thread does later is no parent of what it did before. Where it might be taken for one,
  // what waits goes without. In what was imported nobody knows the thread: it is 0.
  template <typename Take>
  void end_before(const model::EventView& event, Take take) {
    if (event.tid == 0) return;
    for (auto late = waiting_.begin(); late != waiting_.end();) {
      if (late->event.tid != event.tid || !feeds(event.point, late->event.point)) {
        ++late;
        continue;
      }
      const auto ended = std::move(*late);
      late = waiting_.erase(late);
      take(ended.view());
    }
  }

  // One of this point came: what waits may have waited for it, and others for that. `take(event)`
  // says whether it was so.
  template <typename Take>
  void try_again(PointId came, Take take) {
    int tries = 0;
    came_.assign(1, came);
    while (!came_.empty()) {
      const auto parent = came_.back();
      came_.pop_back();
      for (auto late = waiting_.begin(); late != waiting_.end();) {
        if (!feeds(parent, late->event.point)) {
          ++late;
          continue;
        }
        if (++tries > kMostTries) return;
        if (take(late->view())) {
          came_.push_back(late->event.point);
          late = waiting_.erase(late);
        } else {
          ++late;
        }
      }
    }
  }

 private:
  // At each event.
  static constexpr int kMostTries = 64;

  struct Late {
    model::EventView event;  // but for its values
    std::vector<std::uint64_t> values;

    model::EventView view() const {
      auto view = event;
      view.values = values;
      return view;
    }
  };

  bool feeds(PointId parent, PointId child) const {
    return std::ranges::any_of(topology_.points[child].pairs, [&](std::uint32_t pair) {
      return topology_.pairs[pair].parent == parent;
    });
  }

  const Topology& topology_;
  std::deque<Late> waiting_;
  std::vector<PointId> came_;
};

}  // namespace sojourn::journeys
