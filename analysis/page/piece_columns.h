// The pieces of complete packets as columns, a row each. A packet that is sent is cut: a piece is
// each of its first ways out, and took from the packet's arrival until then. A packet that is
// received is put together: a piece is each of its ways in, and took from then until the packet was
// whole. One thread owns a PieceColumns.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"

namespace sojourn::page {

class PieceColumns : public journeys::Observer {
 public:
  PieceColumns(const journeys::Topology& topology, std::uint64_t origin_ns)
      : topology_(topology), origin_ns_(origin_ns) {}

  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }

  void on_journey(const journeys::Journey& journey) override {
    if (!journey.has_latency()) return;
    const bool is_sent = topology_.anchor(journey.direction) == journeys::Anchor::kInput;
    for (std::uint32_t at = 0; at < journey.steps.size(); ++at) {
      const journeys::Step& step = journey.steps[at];
      const journeys::PointPlan& point = topology_.points[step.point];
      // The piece that decided the latency is always among them.
      const bool decides = at == journey.end_step && is_sent;
      if (is_sent ? !(point.output && !step.again) && !decides : !point.input) continue;
      const std::uint64_t from = is_sent ? journey.start_ns : step.ts_ns;
      const std::uint64_t to = is_sent ? step.ts_ns : journey.end_ns;
      if (to < from) continue;  // came when the packet was whole already
      id.push_back(static_cast<double>(journey.id));
      start.push_back(static_cast<double>(static_cast<std::int64_t>(from - origin_ns_)));
      latency.push_back(static_cast<double>(to - from));
      direction.push_back(static_cast<std::uint8_t>(journey.direction));
    }
  }

  std::vector<double> id;  // the packet's; its pieces follow one another
  std::vector<double> start;
  std::vector<double> latency;  // ns
  std::vector<std::uint8_t> direction;

 private:
  const journeys::Topology& topology_;
  std::uint64_t origin_ns_;
};

}  // namespace sojourn::page
