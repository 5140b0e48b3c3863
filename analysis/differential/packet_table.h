// The latency of each complete packet of a trace, and its stay in each place of the path that
// decided the latency, in the order in which packets began: the series that are compared. The stays
// of a packet add up to its latency. Memory: 4 bytes for each packet and place, of at most
// kMaxPackets of a direction. One thread owns a PacketTables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"

namespace sojourn::differential {

// Stays of packets that were not in a place.
inline constexpr float kNotThere = std::numeric_limits<float>::quiet_NaN();

struct PacketTable {
  std::vector<std::uint64_t> start_ns;
  std::vector<float> latency_ns;
  std::vector<std::vector<float>> stays_ns;  // by place of the topology; empty: no packet was there

  std::size_t size() const { return start_ns.size(); }
  // Stays in a place, of the packets that were there, in the order in which they began.
  std::vector<float> stays_of(std::size_t place) const;
};

class PacketTables : public journeys::Observer {
 public:
  static constexpr std::size_t kMaxPackets = 4'000'000;
  static constexpr std::size_t kDepthSlices = 256;

  // Depths are of [begin_ns, end_ns).
  PacketTables(const journeys::Topology& topology, std::uint64_t begin_ns, std::uint64_t end_ns);

  bool wants_steps() const override { return false; }
  bool wants_order() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;
  void finish();

  // Called once, after finish().
  PacketTable take(model::Direction direction) {
    return std::move(tables_[direction == model::Direction::kUplink ? 1 : 0]);
  }
  // The mean number of units in a place, in slices of equal length, without units that were never
  // seen to leave.
  const std::vector<float>& depth(std::size_t place) const { return depths_[place]; }
  std::uint64_t left_out() const { return left_out_; }  // packets beyond kMaxPackets

 private:
  std::array<PacketTable, 2> tables_;
  std::vector<std::vector<float>> depths_;
  std::uint64_t begin_ns_;
  double slice_ns_;
  std::uint64_t left_out_ = 0;
};

}  // namespace sojourn::differential
