// A grid of packets by arrival and latency, and the slowest packets: the first screen draws them if
// there is no row for each packet. Memory does not grow with the trace. One thread owns a
// ScreenSummary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/journeys/journey.h"
#include "analysis/report/latency_grid.h"

namespace sojourn::page {

class ScreenSummary : public journeys::Observer {
 public:
  static constexpr std::size_t kSlowest = 20;  // in each direction

  explicit ScreenSummary(std::uint64_t origin_ns) : origin_ns_(origin_ns), grid_(origin_ns) {}

  bool wants_steps() const override { return false; }
  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  std::uint64_t count() const { return count_; }  // all journeys
  // {"column_ns", "rows_of_doubling", "D" and "U": {"first", "last", "low", "high", "column",
  // "row", "count"}}. The first four are the extent of starts and latencies; the arrays are the
  // cells that are not empty. Times are ns since the origin.
  nlohmann::ordered_json grid() const;
  // {"id", "start", "latency", "direction", "outcome"}: arrays of both directions, the slowest
  // first.
  nlohmann::ordered_json slowest() const;

 private:
  struct Packet {
    std::uint64_t id = 0;
    double start = 0;  // ns since the origin
    std::uint64_t latency_ns = 0;
    std::size_t direction = 0;
  };
  struct Extent {
    double first = std::numeric_limits<double>::infinity();
    double last = -std::numeric_limits<double>::infinity();
    std::uint64_t low_ns = UINT64_MAX;
    std::uint64_t high_ns = 0;
  };
  std::vector<Packet> all_slowest() const;

  std::uint64_t origin_ns_;
  std::uint64_t count_ = 0;
  report::LatencyGrid grid_;
  std::array<Extent, 2> extents_;
  std::array<std::vector<Packet>, 2> slowest_;  // the slowest first
};

}  // namespace sojourn::page
