#include "analysis/present/differential/p_text.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::present {
namespace {

TEST_CASE("the smallest p-value that can be computed is a bound, also after adjustment") {
  CHECK(p_text(0.0012, 0.0252) == "p 0.025");
  CHECK(p_text(differential::kLeastLimitP, differential::kLeastLimitP) == "p < 1e-09");
  CHECK(p_text(differential::kLeastLimitP, 21 * differential::kLeastLimitP) == "p < 2.1e-08");
}

}  // namespace
}  // namespace sojourn::present
