#include "analysis/imports/cycle_clock.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::imports {
namespace {

TEST_CASE("cycles are read along straight lines between pairs, and along the nearest outside") {
  CycleClock clock;
  REQUIRE(clock.add(1000, 50'000));
  CHECK_FALSE(clock.ready());
  REQUIRE(clock.add(2000, 60'000));  // 10 ns a cycle
  REQUIRE(clock.add(3000, 80'000));  // 20 ns a cycle
  REQUIRE(clock.ready());
  CHECK(clock.unix_ns(1000) == 50'000);
  CHECK(clock.unix_ns(1500) == 55'000);
  CHECK(clock.unix_ns(2000) == 60'000);
  CHECK(clock.unix_ns(2500) == 70'000);
  CHECK(clock.unix_ns(900) == 49'000);
  CHECK(clock.unix_ns(3100) == 82'000);
}

TEST_CASE("a pair that runs backwards is refused") {
  CycleClock clock;
  REQUIRE(clock.add(1000, 50'000));
  CHECK_FALSE(clock.add(1000, 60'000));
  CHECK_FALSE(clock.add(2000, 50'000));
  CHECK_FALSE(clock.add(900, 60'000));
  CHECK(clock.pairs() == 1);
}

TEST_CASE("real counters are read to the nanosecond") {
  // 2.4 GHz, a counter that has run for 40 days.
  CycleClock clock;
  const std::uint64_t cycles = 8'294'400'000'000'000;
  const std::uint64_t ns = 1'592'409'297'000'000'000;
  REQUIRE(clock.add(cycles, ns));
  REQUIRE(clock.add(cycles + 2'400'000'000, ns + 1'000'000'000));
  CHECK(clock.unix_ns(cycles + 1'200'000'024) == ns + 500'000'010);
}

TEST_CASE("a time beyond 64 bits is invalid") {
  CycleClock clock;
  REQUIRE(clock.add(1'000'000, 1'000));
  REQUIRE(clock.add(1'000'001, 2'000));
  CHECK(clock.unix_ns(0) == std::nullopt);
  CHECK(clock.unix_ns(INT64_MAX) == std::nullopt);
}

}  // namespace
}  // namespace sojourn::imports
