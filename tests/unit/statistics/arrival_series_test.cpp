#include "analysis/statistics/arrival_series.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace sojourn::statistics {
namespace {

using Catch::Matchers::WithinRel;

constexpr std::uint64_t kMs = 1'000'000;

TEST_CASE("an empty series has no rate and no burst") {
  const ArrivalSeries series;
  CHECK(series.count() == 0);
  CHECK(series.busiest_ms() == 0);
  CHECK(series.burstiness() == 0);
  CHECK(series.gaps_ns().count() == 0);
}

TEST_CASE("gaps are from each to the next") {
  ArrivalSeries series;
  for (const std::uint64_t at : {100, 150, 150, 400}) series.add(at);
  CHECK(series.count() == 4);
  CHECK(series.gaps_ns().count() == 3);
  CHECK(series.gaps_ns().min() == 0);
  CHECK(series.gaps_ns().max() == 250);
}

TEST_CASE("an even series is its own mean") {
  ArrivalSeries series;
  for (std::uint64_t i = 0; i < 2500; ++i) series.add(7 + i * kMs);
  CHECK(series.busiest_ms() == 1);
  CHECK_THAT(series.burstiness(), WithinRel(1.0, 1e-9));
}

TEST_CASE("a burst is measured against its own second") {
  ArrivalSeries series;
  // 100 in the first second; in the next one 20, of which 5 at once; one more, later.
  for (std::uint64_t i = 0; i < 100; ++i) series.add(i * 10 * kMs);
  for (std::uint64_t i = 0; i < 15; ++i) series.add((1000 + i * 10) * kMs);
  for (std::uint64_t i = 0; i < 5; ++i) series.add(1500 * kMs + i);
  series.add(9000 * kMs);
  CHECK(series.busiest_ms() == 5);
  CHECK_THAT(series.burstiness(), WithinRel(5.0 / (20.0 / 1000.0), 1e-9));
}

TEST_CASE("the last second counts as far as it went") {
  ArrivalSeries series;
  for (std::uint64_t i = 0; i < 10; ++i) series.add(i * 10 * kMs);
  CHECK_THAT(series.burstiness(), WithinRel(1.0 / (10.0 / 91.0), 1e-9));
}

}  // namespace
}  // namespace sojourn::statistics
