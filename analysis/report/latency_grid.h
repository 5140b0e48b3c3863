// The number of packets of each direction by arrival time and latency: counts in cells, for a
// picture of letters. Cells are 1/8 of a doubling of the latency tall. They are as wide as it takes
// for kColumns to hold all arrivals, so memory does not grow with the trace. One thread owns a
// LatencyGrid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"

namespace sojourn::report {

class LatencyGrid : public journeys::Observer {
 public:
  static constexpr std::size_t kColumns = 512;
  static constexpr std::size_t kRowsOfDoubling = 8;
  static constexpr std::size_t kRows = 64 * kRowsOfDoubling;

  // Arrivals count from `origin_ns`; those before are in the first column.
  explicit LatencyGrid(std::uint64_t origin_ns);

  bool wants_steps() const override { return false; }
  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  std::uint64_t count(model::Direction direction, std::size_t column, std::size_t row) const {
    return cells_[direction == model::Direction::kUplink ? 1 : 0][row * kColumns + column];
  }
  std::uint64_t column_ns() const { return column_ns_; }
  // Columns that something arrived in, up to the last one.
  std::size_t used_columns() const { return used_; }
  // The latency at which a row begins.
  static double row_ns(std::size_t row);
  static std::size_t row_of(std::uint64_t latency_ns);

 private:
  void widen();

  std::uint64_t origin_ns_;
  std::uint64_t column_ns_ = 1000;
  std::size_t used_ = 0;
  std::array<std::vector<std::uint64_t>, 2> cells_;
};

}  // namespace sojourn::report
