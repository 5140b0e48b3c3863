// Readings into joules: between the marks, across wraps, and with gaps.
#include "analysis/energy/energy_meter.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/energy/readings.h"

namespace sojourn::energy {
namespace {

using namespace test;
using Catch::Approx;

TEST_CASE("energy counts between the marks, also where readings lie beyond them") {
  Readings readings;
  const std::uint32_t zone = readings.zone("intel-rapl:0", "package-0", "package-0");
  readings.read(zone, 8, 0);            // 10 W up to second 12, the capture opens at 10
  readings.read(zone, 12, 40'000'000);  // 20 J of these are in it
  readings.read(zone, 16, 140'000'000);
  readings.read(zone, 24, 300'000'000);  // 20 W, closes at 20: 80 J
  const EnergyMeter meter = readings.meter();
  REQUIRE(meter.zone(zone) != nullptr);
  CHECK(meter.zone(zone)->amount() == Approx(20e6 + 100e6 + 80e6));
  CHECK(meter.zone(zone)->covered_ns() == 10 * kSecond);
  CHECK(meter.zone(zone)->wraps() == 0);
  CHECK(meter.duration_s() == 10);
  CHECK(meter.zone(7) == nullptr);
}

TEST_CASE("a counter of 65 kJ wraps at 200 W after 328 s, and no joule is lost") {
  Counter counter(kRange);
  std::uint64_t value = kRange - 1'000'000;
  double expected = 0;
  for (std::uint64_t second = 0; second <= 1000; second += 10) {
    counter.add(second * kSecond, value, 0, UINT64_MAX);
    if (second == 1000) break;
    value = (value + 2'000'000'000) % kRange;  // 200 W for ten seconds
    expected += 2e9;
  }
  CHECK(counter.amount() == Approx(expected));
  CHECK(counter.wraps() == 4);  // 200 kJ, and the first at once
  CHECK_FALSE(counter.is_doubtful());
}

TEST_CASE("a counter that may have wrapped more than once, or was set back, is doubtful") {
  Counter seldom(kRange);
  seldom.add(0, 0, 0, UINT64_MAX);
  seldom.add(40 * kSecond, 1000, 0, UINT64_MAX);  // 2 kW fill it in 33 s
  CHECK(seldom.is_doubtful());

  Counter set_back(kRange);
  set_back.add(0, 50'000'000'000, 0, UINT64_MAX);
  set_back.add(kSecond, 10, 0, UINT64_MAX);  // as a wrap that would be 15 kW
  CHECK(set_back.is_doubtful());

  Counter without_wraps(0);
  without_wraps.add(0, 100, 0, UINT64_MAX);
  without_wraps.add(kSecond, 50, 0, UINT64_MAX);
  CHECK(without_wraps.is_doubtful());

  Counter beyond_range(1000);
  beyond_range.add(0, 2000, 0, UINT64_MAX);
  beyond_range.add(1, 10, 0, UINT64_MAX);
  CHECK(beyond_range.is_doubtful());
}

TEST_CASE("errors outside of the marks do not affect the capture") {
  Counter counter(kRange);
  counter.add(1 * kSecond, 1000, 10 * kSecond, 20 * kSecond);
  counter.add(2 * kSecond, 0, 10 * kSecond, 20 * kSecond);  // set back, and not read for 40 s
  counter.add(9 * kSecond, 0, 10 * kSecond, 20 * kSecond);
  counter.add(11 * kSecond, 2'000'000, 10 * kSecond, 20 * kSecond);
  CHECK_FALSE(counter.is_doubtful());
  CHECK(counter.amount() == Approx(1e6));
}

TEST_CASE("frequencies and idle states are read beside it") {
  Readings readings;
  readings.frequency(3, 9, 1);  // before the capture
  readings.frequency(3, 11, 1'200'000);
  readings.frequency(3, 12, 3'600'000);
  readings.idle(0, 10, 5'000'000);
  readings.idle(0, 20, 9'000'000);
  const EnergyMeter meter = readings.meter();
  REQUIRE(meter.policy(3) != nullptr);
  CHECK(meter.policy(3)->mean_khz() == 2'400'000);
  CHECK(meter.policy(3)->least_khz == 1'200'000);
  CHECK(meter.policy(3)->most_khz == 3'600'000);
  REQUIRE(meter.idle(0) != nullptr);
  CHECK(meter.idle(0)->amount() == Approx(4e6));
}

TEST_CASE("a trace without a close mark counts to its end") {
  const model::Schema schema;
  const model::Energy about;
  model::Capture capture;
  capture.open_ns = 5 * kSecond;
  EnergyMeter meter(schema, about, capture);
  meter.finish(9 * kSecond);
  CHECK(meter.duration_s() == 4);
}

}  // namespace
}  // namespace sojourn::energy
