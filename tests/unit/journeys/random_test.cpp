// Random radio behaviour, all mechanisms mixed, compared with the truth.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/random_legs.h"
#include "tests/unit/journeys/random_radio.h"
#include "tests/unit/journeys/random_roaming.h"
#include "tests/unit/journeys/truth_compare.h"

namespace sojourn::journeys {
namespace {

struct Sums {
  std::uint64_t journeys = 0;
  std::uint64_t repeats = 0;
  std::uint64_t segments = 0;
  std::uint64_t dropped = 0;
};

void check(const truth::Truth& truth, std::uint32_t seed, Vanishing vanishing, Sums& sums) {
  auto compared = compare_with_truth(truth, observe_all(truth), {}, vanishing);
  if (!compared) FAIL(compared.error().text());
  INFO("seed " << seed << ", " << compared->events << " events");
  for (const auto& difference : compared->differences) UNSCOPED_INFO(difference);
  REQUIRE(compared->different == 0);
  CHECK(compared->equal == compared->expected);
  for (const auto& point : compared->totals.points) {
    CHECK(point.orphans + point.cut == 0);
    CHECK(point.ambiguous == 0);
  }
  sums.journeys += compared->equal;
  sums.repeats += compared->repeats;
  sums.segments += compared->segments;
  sums.dropped += compared->dropped;
}

TEST_CASE("every journey of random radio behaviour comes out exactly, and none is invented") {
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    Radio radio;
    radio.seed = seed;
    radio.ues = 1 + seed % 5;
    radio.loss_percent = 10 + seed % 50;
    check(random_radio(radio), seed, Vanishing::kNever, sums);
  }
  CHECK(sums.repeats > 1000);
  CHECK(sums.segments > 1000);
  CHECK(sums.dropped > 1000);
}

TEST_CASE(
    "UEs whose RNTI changes, temporary ones and ids with two values: every journey comes out") {
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 60; ++seed)
    check(random_roaming({.seed = seed,
                          .ues = 1 + seed % 5,
                          .loss_percent = 5 + seed % 50,
                          .handover_percent = 1 + seed % 4}),
          seed, Vanishing::kNever, sums);
  CHECK(sums.journeys > 10'000);
  CHECK(sums.segments > 1000);
  CHECK(sums.repeats > 1000);
}

TEST_CASE("copies over two legs that overtake each other: every journey comes out") {
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 60; ++seed)
    check(random_legs({.seed = seed, .ues = 1 + seed % 5, .loss_percent = 5 + seed % 50}), seed,
          Vanishing::kUplink, sums);
  CHECK(sums.journeys > 10'000);
  CHECK(sums.repeats > 1000);
  CHECK(sums.dropped > 1000);
}

// Stamps the events of points that begin with one of these later than others. Returns how many
// parents are behind their children then.
std::uint64_t check_with_other_clock(const truth::Truth& truth,
                                     std::initializer_list<std::string_view> points,
                                     std::uint64_t later_ns, Vanishing vanishing) {
  auto observations = observe_all(truth);
  std::vector<std::uint64_t> stamps(truth.hits.size());
  for (auto& observation : observations) {
    // The rate of a real one: a block's contents arrive before the clocks' difference matters.
    observation.ts_ns *= 100;
    const auto& where = truth.points[truth.hits[observation.hit].point].where;
    if (std::ranges::any_of(points, [&](auto begin) { return where.starts_with(begin); }))
      observation.ts_ns += later_ns;
    stamps[observation.hit] = observation.ts_ns;
  }
  std::uint64_t inverted = 0;
  for (std::size_t hit = 0; hit < truth.hits.size(); ++hit)
    for (const auto parent : truth.hits[hit].parents)
      inverted += stamps[hit] < stamps[truth.hit_by_id.at(parent)] ? 1 : 0;
  std::ranges::stable_sort(observations, {}, &Observation::ts_ns);
  auto compared = compare_with_truth(truth, observations, {}, vanishing);
  if (!compared) FAIL(compared.error().text());
  for (const auto& difference : compared->differences) UNSCOPED_INFO(difference);
  REQUIRE(compared->different == 0);
  for (const auto& point : compared->totals.points) CHECK(point.orphans + point.cut == 0);
  return inverted;
}

TEST_CASE("a thread whose clock is behind the others' changes no journey") {
  std::uint64_t inverted = 0;
  std::uint64_t of_copies = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const std::uint32_t ues = 1 + seed % 5;
    inverted += check_with_other_clock(random_radio({.seed = seed, .ues = ues, .sequence = 4096}),
                                       {"D pdcp.in--pdcp.tx", "U pdcp.rx--gtp.tx"}, 700 * seed,
                                       Vanishing::kNever);
    of_copies += check_with_other_clock(random_legs({.seed = seed, .ues = ues, .sequence = 4096}),
                                        {"U rlc.rx", "U demux", "U pdcp.rx--gtp.tx"}, 700 * seed,
                                        Vanishing::kUplink);
  }
  CHECK(inverted > 300);
  CHECK(of_copies > 300);
}

TEST_CASE("the same seed gives the same radio") {
  const auto one = random_radio({.seed = 5});
  const auto two = random_radio({.seed = 5});
  REQUIRE(one.hits.size() == two.hits.size());
  for (std::size_t i = 0; i < one.hits.size(); ++i) {
    CHECK(one.hits[i].before_ns == two.hits[i].before_ns);
    CHECK(std::ranges::equal(one.hits[i].values, two.hits[i].values));
  }
}

}  // namespace
}  // namespace sojourn::journeys
