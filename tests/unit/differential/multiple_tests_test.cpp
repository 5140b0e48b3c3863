// Against R's p.adjust, on the fifteen p-values of Benjamini and Hochberg (1995).
#include "analysis/differential/multiple_tests.h"

#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

const std::vector<double> kGiven = {.0001, .004, .019,  .0095, .0201, .0278, .0298, .0344,
                                    .0459, .324, .4262, .5719, .6528, .759,  1};

void require_equal(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t at = 0; at < found.size(); ++at) {
    CAPTURE(at);
    CHECK(found[at] == Catch::Approx(expected[at]).margin(5e-8));
  }
}

TEST_CASE("Holm's adjusted p-values are the published ones") {
  require_equal(holm(kGiven),
                {.0015, .056, .228, .1235, .228, .278, .278, .278, .3213, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("Benjamini and Hochberg's adjusted p-values are the published ones") {
  require_equal(benjamini_hochberg(kGiven),
                {.0015, .03, .0603, .0475, .0603, .0638571429, .0638571429, .0645, .0765, .486,
                 .5811818182, .714875, .7532307692, .8132142857, 1});
}

TEST_CASE("the adjustment that is asked for is made") {
  CHECK(adjusted(kGiven, Adjustment::kHolm) == holm(kGiven));
  CHECK(adjusted(kGiven, Adjustment::kBenjaminiHochberg) == benjamini_hochberg(kGiven));
}

TEST_CASE("one test needs no adjustment, and none has none") {
  CHECK(holm(std::vector<double>{.03}) == std::vector<double>{.03});
  CHECK(benjamini_hochberg(std::vector<double>{.03}) == std::vector<double>{.03});
  CHECK(holm({}).empty());
}

}  // namespace
}  // namespace sojourn::differential
