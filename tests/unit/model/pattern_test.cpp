#include "analysis/model/pattern.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::model {
namespace {

TEST_CASE("a pattern means points by their names, or by their directions and names") {
  const auto point = parse_point("U rlc.rx--pdcp.rx", "len");
  REQUIRE(point);
  for (const char* const pattern : {"*", "rlc.*", "rlc.rx--pdcp.rx", "U *", "U rlc*", "?lc.*"})
    CHECK(matches_pattern(*point, pattern));
  for (const char* const pattern : {"", "rlc", "D *", "U", "Urlc*", "pdcp.*"})
    CHECK_FALSE(matches_pattern(*point, pattern));
}

}  // namespace
}  // namespace sojourn::model
