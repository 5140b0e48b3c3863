#include "analysis/report/latency_grid.h"

#include <algorithm>
#include <cmath>

namespace sojourn::report {

LatencyGrid::LatencyGrid(std::uint64_t origin_ns) : origin_ns_(origin_ns) {
  for (auto& cells : cells_) cells.resize(kRows * kColumns);
}

double LatencyGrid::row_ns(std::size_t row) {
  return std::exp2(static_cast<double>(row) / static_cast<double>(kRowsOfDoubling));
}

std::size_t LatencyGrid::row_of(std::uint64_t latency_ns) {
  const double doublings = std::log2(static_cast<double>(std::max<std::uint64_t>(latency_ns, 1)));
  return std::min(kRows - 1, static_cast<std::size_t>(doublings * kRowsOfDoubling));
}

// Two columns become one.
void LatencyGrid::widen() {
  column_ns_ *= 2;
  for (auto& cells : cells_)
    for (std::size_t row = 0; row < kRows; ++row) {
      std::uint64_t* const of = &cells[row * kColumns];
      for (std::size_t column = 0; column < kColumns / 2; ++column)
        of[column] = of[2 * column] + of[2 * column + 1];
      std::fill(of + kColumns / 2, of + kColumns, 0);
    }
  used_ = (used_ + 1) / 2;
}

void LatencyGrid::on_journey(const journeys::Journey& journey) {
  if (!journey.has_latency()) return;
  const std::uint64_t since_ns = journey.start_ns - std::min(journey.start_ns, origin_ns_);
  while (since_ns / column_ns_ >= kColumns) widen();
  const auto column = static_cast<std::size_t>(since_ns / column_ns_);
  used_ = std::max(used_, column + 1);
  const std::size_t of = journey.direction == model::Direction::kUplink ? 1 : 0;
  ++cells_[of][row_of(journey.latency_ns()) * kColumns + column];
}

}  // namespace sojourn::report
