// Causes of lateness of two sides: those that grew, by packets and by time, and their certainty.
#include "analysis/differential/cause_change.h"

#include <array>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

TEST_CASE("the cause that grew most in time comes first, and the one that shrank most last") {
  const std::array base = {RunCauses{
      .complete = 1000, .late = 10, .causes = {{"queue", {8, 8'000}}, {"cpu", {2, 1'000}}}}};
  const std::array now = {RunCauses{
      .complete = 2000, .late = 60, .causes = {{"sleep", {40, 900'000}}, {"cpu", {20, 20'000}}}}};
  const auto changes = cause_changes(base, now);
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].cause == "sleep");
  CHECK(changes[0].base_packets == 0);
  CHECK(changes[0].now_packets == Approx(0.02));
  CHECK(changes[0].by_ns() == Approx(450));
  CHECK(changes[1].cause == "cpu");
  CHECK(changes[1].by_ns() == Approx(9));
  CHECK(changes[2].cause == "queue");
  CHECK(changes[2].by_ns() == Approx(-8));
  CHECK_FALSE(changes[0].half);  // one run a side gives no interval
}

TEST_CASE("runs have one weight each, however long they were, and several have an interval") {
  const std::array base = {RunCauses{.complete = 100, .causes = {{"cpu", {1, 100}}}},
                           RunCauses{.complete = 10'000, .causes = {{"cpu", {300, 10'000}}}}};
  const std::array now = {RunCauses{.complete = 100, .causes = {{"cpu", {5, 100}}}},
                          RunCauses{.complete = 100, .causes = {{"cpu", {7, 100}}}}};
  const auto changes = cause_changes(base, now);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].base_packets == Approx(0.02));
  CHECK(changes[0].now_packets == Approx(0.06));
  REQUIRE(changes[0].half);
  // Two means of two with equal spread: t of two degrees of freedom is 4.3027, error 0.01 * sqrt 2.
  CHECK(*changes[0].half == Approx(4.3027 * 0.0141421).epsilon(1e-3));
}

TEST_CASE("a run without packets says nothing, and a side without late packets has no causes") {
  const std::array base = {RunCauses{}, RunCauses{.complete = 50}};
  const std::array now = {RunCauses{.complete = 10, .late = 1, .causes = {{"cpu", {1, 50}}}}};
  const auto changes = cause_changes(base, now);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].base_packets == 0);
  CHECK(changes[0].now_packets == Approx(0.1));
  CHECK(cause_changes(base, base).empty());
}

}  // namespace
}  // namespace sojourn::differential
