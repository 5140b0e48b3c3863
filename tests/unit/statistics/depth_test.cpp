#include "analysis/statistics/depth.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace sojourn::statistics {
namespace {

using Catch::Matchers::WithinRel;

TEST_CASE("depth is weighted by how long it lasted") {
  Depth depth;
  depth.begin(0);
  depth.enter(100);
  depth.enter(110);
  depth.leave(120);
  depth.leave(200);
  depth.end(400);
  CHECK(depth.max() == 2);
  CHECK_THAT(depth.mean(), WithinRel((10.0 + 2 * 10 + 80) / 400, 1e-12));
  CHECK(depth.quantile(0.5) == 0);
  CHECK(depth.quantile(0.9) == 1);
  CHECK(depth.quantile(1) == 2);
}

TEST_CASE("units inside before the first event do not make a depth negative") {
  Depth depth;
  depth.begin(0);
  depth.leave(10);
  depth.enter(20);
  depth.end(30);
  CHECK(depth.now() == 1);
  CHECK(depth.max() == 1);
}

TEST_CASE("Little's law holds where everything that entered left") {
  Depth depth;
  depth.begin(0);
  std::uint64_t now = 0;
  for (int i = 0; i < 100; ++i) {
    depth.enter(now);
    depth.stayed(7);
    depth.leave(now + 7);
    now += 10;
  }
  depth.end(now);
  CHECK_THAT(depth.mean(), WithinRel(0.7, 1e-9));
  CHECK_THAT(depth.arrivals_times_stay(), WithinRel(depth.mean(), 1e-9));
}

TEST_CASE("a depth of nothing is 0") {
  const Depth depth;
  CHECK(depth.max() == 0);
  CHECK(depth.mean() == 0);
  CHECK(depth.quantile(0.5) == 0);
  CHECK(depth.arrivals_times_stay() == 0);
}

}  // namespace
}  // namespace sojourn::statistics
