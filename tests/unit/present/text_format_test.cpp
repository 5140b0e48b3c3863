#include "analysis/present/words/text_format.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::present {
namespace {

TEST_CASE("durations have three digits and the unit that fits") {
  CHECK(duration(0) == "0 ns");
  CHECK(duration(931) == "931 ns");
  CHECK(duration(1'000) == "1.00 us");
  CHECK(duration(14'249) == "14.2 us");
  CHECK(duration(999'400) == "999 us");
  CHECK(duration(999'600) == "1.00 ms");
  CHECK(duration(9'996'000) == "10.0 ms");
  CHECK(duration(99'960'000) == "100 ms");
  CHECK(duration(1'920'000) == "1.92 ms");
  CHECK(duration(10e9) == "10.0 s");
}

TEST_CASE("counts are grouped") {
  CHECK(count(0) == "0");
  CHECK(count(999) == "999");
  CHECK(count(1'000) == "1,000");
  CHECK(count(3'412'806) == "3,412,806");
  CHECK(count(UINT64_MAX) == "18,446,744,073,709,551,615");
}

TEST_CASE("shares do not round to nothing") {
  CHECK(percent(0) == "0 %");
  CHECK(percent(0.00001) == "< 0.01 %");
  CHECK(percent(0.0037) == "0.37 %");
  CHECK(percent(0.712) == "71.2 %");
  CHECK(percent(1) == "100.0 %");
}

TEST_CASE("a bar is as long as its share, at most its width") {
  CHECK(bar(0, 8).empty());
  CHECK(bar(0.5, 8) == "####");
  CHECK(bar(2, 8) == "########");
}

TEST_CASE("a target's name cannot move the cursor") {
  CHECK(printable("a\033[2Jb\n") == "a?[2Jb?");
}

}  // namespace
}  // namespace sojourn::present
