// Knows from when on all hits of a point are in the trace. The threads of a flight recorder hold
// different spans, so a dump has some events from before its open mark. A point is complete since
// the first event of each thread that hit it. One thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class PointHistory {
 public:
  PointHistory(const Topology& topology, std::uint64_t open_ns)
      : topology_(topology), open_ns_(open_ns), whole_from_(topology.points.size(), 0) {}

  void note(const model::EventView& event) {
    has_before_ = has_before_ || event.ts_ns < open_ns_;
    if (has_before_) [[unlikely]]
      note_span(event);
  }

  // By point, the instant from which on the trace has all events by which units leave the place
  // that they enter at the point. 0: only from the open mark on.
  std::vector<std::uint64_t> leaves_seen_from() const {
    std::vector<std::uint64_t> from(topology_.points.size(), 0);
    for (const auto& pair : topology_.pairs)
      from[pair.parent] = std::max(from[pair.parent], whole_from_[pair.child]);
    return from;
  }

 private:
  void note_span(const model::EventView& event) {
    const auto first = first_of_stream_.try_emplace(event.stream, event.ts_ns).first->second;
    auto& whole_from = whole_from_[event.point];
    whole_from = std::max(whole_from, first);
  }

  const Topology& topology_;
  std::uint64_t open_ns_;
  bool has_before_ = false;  // there are events from before the open mark
  std::vector<std::uint64_t> whole_from_;
  std::unordered_map<std::uint32_t, std::uint64_t> first_of_stream_;
};

}  // namespace sojourn::journeys
