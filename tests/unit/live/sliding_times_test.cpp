// Windows of seconds with known answers.
#include "analysis/live/sliding_times.h"

#include <cstdint>

#include <catch2/catch_test_macros.hpp>

#include "analysis/live/depth_window.h"
#include "analysis/live/time_histogram.h"

namespace sojourn::live {
namespace {

TEST_CASE("a quantile is within half of a bucket's width, and the greatest value is exact") {
  TimeHistogram times(7);
  for (std::uint64_t value = 1; value <= 100'000; ++value) times.add(value * 1000);
  CHECK(times.count() == 100'000);
  CHECK(times.max() == 100'000'000);
  CHECK(times.quantile(1) == 100'000'000);
  for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = share * 100'000'000;
    const auto found = static_cast<double>(times.quantile(share));
    CAPTURE(share, found);
    CHECK(found > exact * (1 - 0.004));
    CHECK(found < exact * (1 + 0.004));
  }
}

TEST_CASE("small values are counted exactly") {
  TimeHistogram times(7);
  for (std::uint64_t value = 0; value < 100; ++value) times.add(value);
  CHECK(times.quantile(0.5) == 49);
  CHECK(times.quantile(0) == 0);
  CHECK(TimeHistogram(7).quantile(0.5) == 0);
}

TEST_CASE("merged histograms are that of all values") {
  TimeHistogram odd(10);
  TimeHistogram even(10);
  TimeHistogram all(10);
  for (std::uint64_t value = 1; value < 5000; ++value) {
    (value % 2 == 0 ? even : odd).add(value * value);
    all.add(value * value);
  }
  odd.merge(even);
  CHECK(odd.count() == all.count());
  CHECK(odd.max() == all.max());
  for (const double share : {0.1, 0.5, 0.99}) CHECK(odd.quantile(share) == all.quantile(share));
}

TEST_CASE("a window forgets what is older than its seconds, and the start does not") {
  SlidingTimes times(3);
  for (std::uint64_t second = 0; second < 10; ++second)
    for (int count = 0; count < 10; ++count) times.add(second, (second + 1) * 100);
  CHECK(times.window().count() == 30);  // of the seconds 7, 8 and 9
  CHECK(times.window().max() == 1000);
  CHECK(times.window().quantile(0.01) > 790);
  CHECK(times.all().count() == 100);
  REQUIRE(times.history().size() == 9);  // the last one is not over
  CHECK(times.history().front().count == 10);
  CHECK(times.history().front().p99_ns == 100);
  CHECK(times.history().back().p50_ns == 900);

  times.advance(12);
  CHECK(times.window().count() == 0);
  CHECK(times.all().count() == 100);
}

TEST_CASE("a late value counts in its own second, or only since the start") {
  SlidingTimes times(3);
  times.advance(10);
  times.add(9, 5);
  CHECK(times.window().count() == 1);
  times.add(7, 5);
  CHECK(times.window().count() == 1);
  CHECK(times.all().count() == 2);
  times.advance(11);
  CHECK(times.window().count() == 1);
  times.advance(12);
  CHECK(times.window().count() == 0);
}

TEST_CASE("a pause of hours leaves nothing of the window, and a history of nothing") {
  SlidingTimes times(5);
  times.add(1, 7);
  times.advance(20'000);
  CHECK(times.window().count() == 0);
  CHECK(times.history().size() == SlidingTimes::kHistory);
  CHECK(times.history().back().count == 0);
}

TEST_CASE("a depth is shown as it is now, at most in the window, and at most since the start") {
  DepthWindow depth(2);
  for (int unit = 0; unit < 5; ++unit) depth.enter(0);
  for (int unit = 0; unit < 4; ++unit) depth.leave(1, true);
  depth.enter(3);
  CHECK(depth.now() == 2);
  CHECK(depth.window_max() == 2);
  CHECK(depth.max() == 5);
  CHECK(depth.entered() == 6);
  depth.leave(3, false);
  CHECK(depth.given_up() == 1);
  depth.advance(10);
  CHECK(depth.window_max() == 1);  // it is still there
}

}  // namespace
}  // namespace sojourn::live
