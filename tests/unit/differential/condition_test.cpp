#include "analysis/differential/condition.h"

#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

Condition parsed(const std::string& text) {
  const auto condition = parse_condition(text);
  REQUIRE(condition);
  return *condition;
}

// The latency of D: p99 rose from 1 ms by 100 +- 20 us.
Comparison latency() {
  Comparison each = {.name = "latency", .direction = 'D', .is_latency = true};
  each.shifts = {{.share = 0.99, .base = 1e6, .now = 1.1e6, .half = 20e3}};
  return each;
}

TEST_CASE("conditions are read as they are meant") {
  const Condition rise = parsed(" p99(D) > +5% ");
  CHECK(rise.text == "p99(D) > +5%");
  CHECK(rise.share == 0.99);
  CHECK(rise.direction == 'D');
  CHECK(rise.place.empty());
  CHECK(rise.is_more);
  CHECK(rise.is_percent);
  CHECK(rise.by == Approx(0.05));
  const Condition fall = parsed("mean(U pdcp.rx) < -1.5 us");
  CHECK(fall.share == kMean);
  CHECK(fall.direction == 'U');
  CHECK(fall.place == "pdcp.rx");
  CHECK_FALSE(fall.is_more);
  CHECK_FALSE(fall.is_percent);
  CHECK(fall.by == Approx(-1500));
  CHECK(parsed("p999(D)>+0%").share == 0.999);
}

TEST_CASE("an invalid condition is refused with the reason") {
  for (const char* text :
       {"", "p99", "p99()", "p98(D) > +5%", "p99(X) > +5%", "p99(Dx) > +5%", "p99(D)",
        "p99(D) = +5%", "p99(D) > 5%", "p99(D) > -5%", "p99(D) < +5%", "p99(D) > +x%",
        "p99(D) > +5", "p99(D) > +nan%", ")p99(D > +5%", "p99(D) > +5% more"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_condition(text));
  }
}

TEST_CASE("a condition holds, does not, or is open by the whole interval") {
  const std::vector<Comparison> all = {latency()};
  const auto finding = [&](const char* text) { return check(parsed(text), all).finding; };
  CHECK(finding("p99(D) > +5%") == Finding::kHolds);
  CHECK(finding("p99(D) > +79us") == Finding::kHolds);
  CHECK(finding("p99(D) > +9%") == Finding::kTooLittle);
  CHECK(finding("p99(D) > +13%") == Finding::kDoesNotHold);
  CHECK(finding("p99(D) < -1%") == Finding::kDoesNotHold);
  CHECK(check(parsed("p99(D) > +5%"), all).why == "p99 of D changed by +10.0 % [+8.0, +12.0]");
}

TEST_CASE("a condition on an unmeasured figure has too little data, and never passes") {
  std::vector<Comparison> all = {latency()};
  CHECK(check(parsed("p99(U) > +5%"), all).finding == Finding::kTooLittle);
  CHECK(check(parsed("p50(D) > +5%"), all).finding == Finding::kTooLittle);
  CHECK(check(parsed("p99(D rlc) > +5%"), all).finding == Finding::kTooLittle);
  all[0].shifts[0].half.reset();
  CHECK(check(parsed("p99(D) > +5%"), all).finding == Finding::kTooLittle);
}

TEST_CASE("data that are too little are told by each side's own number") {
  std::vector<Comparison> all = {latency()};
  all[0].shifts[0].half.reset();
  all[0].base_effective = 898.4;
  all[0].base_units = 64;
  CHECK(check(parsed("p99(D) > +5%"), all).why ==
        "p99 of D: 898 and 0 independent packets are too few for an interval");
  all[0].base_units = 5;
  all[0].now_units = 1;
  CHECK(check(parsed("p99(D) > +5%"), all).why ==
        "p99 of D: 5 and 1 runs are too few for an interval");
}

}  // namespace
}  // namespace sojourn::differential
