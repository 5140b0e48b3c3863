#include "analysis/model/event.h"

#include <array>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::model {
namespace {

TEST_CASE("a batch returns the appended events, for any numbers of values") {
  EventBatch batch;
  std::vector<std::vector<std::uint64_t>> values;
  for (std::uint64_t row = 0; row < 40; ++row) {
    values.emplace_back(row % 17, row * 1000);
    batch.append({.ts_ns = row + 1,
                  .seq = row + 2,
                  .stream = 3,
                  .tid = 4,
                  .point = static_cast<PointId>(row),
                  .values = values.back()});
  }
  REQUIRE(batch.size() == 40);
  for (std::uint64_t row = 0; row < 40; ++row) {
    const EventView event = batch[row];
    CHECK(event.ts_ns == row + 1);
    CHECK(event.seq == row + 2);
    CHECK(event.stream == 3);
    CHECK(event.tid == 4);
    CHECK(event.point == row);
    CHECK(std::vector(event.values.begin(), event.values.end()) == values[row]);
  }
}

TEST_CASE("a cleared batch is empty and can be filled anew") {
  EventBatch batch;
  const std::array<std::uint64_t, 2> values = {7, 8};
  batch.append({.ts_ns = 1, .values = values});
  batch.clear();
  CHECK(batch.empty());
  CHECK(batch.ts_ns().empty());
  batch.append({.ts_ns = 2, .values = {}});
  batch.append({.ts_ns = 3, .values = values});
  REQUIRE(batch.size() == 2);
  CHECK(batch[0].values.empty());
  CHECK(batch[1].values[1] == 8);
}

TEST_CASE("a batch that was moved from can be cleared and used again") {
  EventBatch batch;
  const std::array<std::uint64_t, 1> values = {9};
  batch.append({.ts_ns = 1, .values = values});
  const EventBatch taken = std::move(batch);
  CHECK(taken.size() == 1);
  batch.clear();  // NOLINT(bugprone-use-after-move): what the test is about
  batch.append({.ts_ns = 2, .values = values});
  REQUIRE(batch.size() == 1);
  CHECK(batch[0].values[0] == 9);
}

}  // namespace
}  // namespace sojourn::model
