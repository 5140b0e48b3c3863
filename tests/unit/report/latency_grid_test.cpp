#include "analysis/report/latency_grid.h"

#include <array>
#include <cstdint>
#include <random>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::report {
namespace {

journeys::Journey journey(model::Direction direction, std::uint64_t start_ns,
                          std::uint64_t latency_ns) {
  journeys::Journey made;
  made.direction = direction;
  made.outcome = journeys::Outcome::kComplete;
  made.start_ns = start_ns;
  made.end_ns = start_ns + latency_ns;
  return made;
}

std::uint64_t sum(const LatencyGrid& grid, model::Direction direction) {
  std::uint64_t all = 0;
  for (std::size_t row = 0; row < LatencyGrid::kRows; ++row)
    for (std::size_t column = 0; column < LatencyGrid::kColumns; ++column)
      all += grid.count(direction, column, row);
  return all;
}

TEST_CASE("every packet with a latency is in one cell, however long the capture") {
  LatencyGrid grid(1'000'000);
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 5000; ++i)
    grid.on_journey(journey(i % 3 == 0 ? model::Direction::kUplink : model::Direction::kDownlink,
                            1'000'000 + i * 7'000'000ULL, 1 + random() % 100'000'000));
  auto censored = journey(model::Direction::kUplink, 2'000'000, 5);
  censored.outcome = journeys::Outcome::kCensored;
  grid.on_journey(censored);
  CHECK(sum(grid, model::Direction::kUplink) == 1667);
  CHECK(sum(grid, model::Direction::kDownlink) == 3333);
  // The last arrival is in the last column that is used.
  const std::uint64_t last_ns = 4999 * 7'000'000ULL;
  CHECK(grid.used_columns() == last_ns / grid.column_ns() + 1);
  CHECK(grid.used_columns() <= LatencyGrid::kColumns);
  CHECK(grid.used_columns() > LatencyGrid::kColumns / 2);
}

TEST_CASE("columns that are merged keep their contents in place") {
  LatencyGrid grid(0);
  grid.on_journey(journey(model::Direction::kDownlink, 10'000, 4096));
  const std::uint64_t before_ns = grid.column_ns();
  grid.on_journey(journey(model::Direction::kDownlink, 3'000'000, 8192));
  CHECK(grid.column_ns() > before_ns);
  CHECK(grid.count(model::Direction::kDownlink, 10'000 / grid.column_ns(),
                   LatencyGrid::row_of(4096)) == 1);
  CHECK(grid.count(model::Direction::kDownlink, 3'000'000 / grid.column_ns(),
                   LatencyGrid::row_of(8192)) == 1);
}

TEST_CASE("a row begins at its latency, and an eighth of a doubling higher is the next") {
  CHECK(LatencyGrid::row_of(0) == 0);
  CHECK(LatencyGrid::row_of(1) == 0);
  CHECK(LatencyGrid::row_of(2) == LatencyGrid::kRowsOfDoubling);
  CHECK(LatencyGrid::row_ns(LatencyGrid::row_of(1024)) == 1024);
  CHECK(LatencyGrid::row_of(UINT64_MAX) == LatencyGrid::kRows - 1);
}

}  // namespace
}  // namespace sojourn::report
