#include "analysis/statistics/share.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace sojourn::statistics {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("a share's bounds are Wilson's") {
  const Share half = share_of(50, 100);
  CHECK(half.share == 0.5);
  CHECK_THAT(half.low, WithinAbs(0.4038, 1e-4));
  CHECK_THAT(half.high, WithinAbs(0.5962, 1e-4));
  const Share few = share_of(1, 10);
  CHECK_THAT(few.low, WithinAbs(0.0179, 1e-4));
  CHECK_THAT(few.high, WithinAbs(0.4042, 1e-4));
}

TEST_CASE("none of many may still be some, and all may still be fewer") {
  CHECK(share_of(0, 100).low == 0);
  CHECK_THAT(share_of(0, 100).high, WithinAbs(0.0370, 1e-4));
  CHECK(share_of(100, 100).high == 1);
  CHECK_THAT(share_of(100, 100).low, WithinAbs(0.9630, 1e-4));
}

TEST_CASE("a share of nothing may be anything") {
  CHECK(share_of(0, 0).low == 0);
  CHECK(share_of(0, 0).high == 1);
}

}  // namespace
}  // namespace sojourn::statistics
