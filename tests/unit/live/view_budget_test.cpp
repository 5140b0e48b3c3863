// When a view rebuilds fewer packets, and how many fewer.
#include "analysis/live/view_budget.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::live {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kPercentNs = kSecondNs / 100;

TEST_CASE("a view within its budget rebuilds all packets") {
  ViewBudget budget(0.03);
  for (int second = 0; second < 100; ++second)
    CHECK_FALSE(budget.note(kSecondNs, 3 * kPercentNs, 2 * kPercentNs));
  CHECK(budget.kept() == 1);
}

TEST_CASE(
    "one expensive second is not enough, two are, and the remaining budget goes to the rebuild") {
  ViewBudget budget(0.03);
  CHECK_FALSE(budget.note(kSecondNs, 16 * kPercentNs, 14 * kPercentNs));
  CHECK_FALSE(budget.note(kSecondNs, 2 * kPercentNs, kPercentNs));
  CHECK_FALSE(budget.note(kSecondNs, 16 * kPercentNs, 14 * kPercentNs));
  const auto share = budget.note(kSecondNs, 16 * kPercentNs, 14 * kPercentNs);
  REQUIRE(share);
  // 2.7 % less the 2 % that are no rebuild, of 14 %.
  CHECK(*share == Catch::Approx(0.05));
  CHECK(budget.kept() == *share);
  // As it was wanted.
  for (int second = 0; second < 20; ++second)
    CHECK_FALSE(budget.note(kSecondNs, 27 * kPercentNs / 10, 7 * kPercentNs / 10));
}

TEST_CASE("if the rest alone takes too much, a little is still rebuilt, without a new choice") {
  ViewBudget budget(0.01);
  CHECK_FALSE(budget.note(kSecondNs, 50 * kPercentNs, kPercentNs));
  const auto share = budget.note(kSecondNs, 50 * kPercentNs, kPercentNs);
  REQUIRE(share);
  CHECK(*share > 0);
  CHECK(*share < 0.01);
  for (int second = 0; second < 20; ++second)
    CHECK_FALSE(budget.note(kSecondNs, 49 * kPercentNs, 1));
}

TEST_CASE("when there is less to do for half a minute, more is rebuilt again") {
  ViewBudget budget(0.03);
  CHECK_FALSE(budget.note(kSecondNs, 16 * kPercentNs, 14 * kPercentNs));
  REQUIRE(budget.note(kSecondNs, 16 * kPercentNs, 14 * kPercentNs));
  int seconds = 1;
  while (!budget.note(kSecondNs, kPercentNs / 2, kPercentNs / 100) && seconds < 100) ++seconds;
  CHECK(seconds == 30);
  CHECK(budget.kept() == 1);
}

TEST_CASE("a moment says nothing") {
  ViewBudget budget(0.03);
  for (int moment = 0; moment < 10; ++moment)
    CHECK_FALSE(budget.note(kSecondNs / 10, kSecondNs / 10, kSecondNs / 20));
}

}  // namespace
}  // namespace sojourn::live
