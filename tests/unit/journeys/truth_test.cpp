// Runs after the base station has written its truth: SJ_TRUTH names the file.
#include <cstdlib>

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/truth_compare.h"

namespace sojourn::journeys {
namespace {

TEST_CASE("every journey of the base station is rebuilt exactly, and none is invented") {
  const char* path = std::getenv("SJ_TRUTH");  // NOLINT(concurrency-mt-unsafe): one thread
  REQUIRE(path != nullptr);
  auto truth = truth::read_truth(path);
  if (!truth) FAIL(truth.error().text());
  auto compared = compare_with_truth(*truth, observe_all(*truth));
  if (!compared) FAIL(compared.error().text());
  for (const auto& difference : compared->differences) UNSCOPED_INFO(difference);
  UNSCOPED_INFO(compared->events << " events, " << compared->equal << " of " << compared->expected
                                 << " journeys, " << compared->repeats << " repeats");
  CHECK(compared->different == 0);
  CHECK(compared->equal == compared->expected);
  // The run must have had what this is about.
  CHECK(compared->expected > 1000);
  CHECK(compared->repeats > 10);
  CHECK(compared->segments > 10);
  for (const auto& point : compared->totals.points) {
    CHECK(point.orphans == 0);
    CHECK(point.cut == 0);
    CHECK(point.ambiguous == 0);
    CHECK(point.malformed == 0);
  }
}

}  // namespace
}  // namespace sojourn::journeys
