// Identifiers of base stations that are not ours, with no rule file: every packet and each of its
// pieces comes out.
#include "tests/unit/journeys/conventions.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/truth_compare.h"

namespace sojourn::journeys {
namespace {

struct Sums {
  std::uint64_t journeys = 0;
  std::uint64_t segments = 0;
};

void check(const truth::Truth& truth, Sums& sums, Vanishing vanishing = Vanishing::kNever) {
  auto observations = observe_all(truth);
  for (auto& observation : observations) observation.ts_ns *= 100;
  auto compared = compare_with_truth(truth, observations, {}, vanishing);
  if (!compared) FAIL(compared.error().text());
  for (const auto& difference : compared->differences) UNSCOPED_INFO(difference);
  REQUIRE(compared->different == 0);
  for (const auto& point : compared->totals.points) {
    CHECK(point.orphans + point.cut == 0);
    CHECK(point.ambiguous == 0);
  }
  sums.journeys += compared->equal;
  sums.segments += compared->segments;
}

TEST_CASE("PDUs that take parts of several SDUs come out of OpenAirInterface LTE's identifiers") {
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    check(oai_lte(seed), sums);
  }
  CHECK(sums.journeys > 20'000);
  CHECK(sums.segments > 5000);
}

TEST_CASE("buffers that are used again at once come out of srsRAN's identifiers") {
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    check(srsran(seed), sums, Vanishing::kUplink);
  }
  CHECK(sums.journeys > 10'000);
  CHECK(sums.segments > 2000);
}

}  // namespace
}  // namespace sojourn::journeys
