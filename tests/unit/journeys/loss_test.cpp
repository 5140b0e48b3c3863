// Random radio behaviour with lost events and clocks that disagree: journeys that are called
// complete are true, and every journey that was seen whole is found.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/journeys/loss_compare.h"
#include "tests/unit/journeys/random_legs.h"
#include "tests/unit/journeys/random_radio.h"
#include "tests/unit/journeys/random_roaming.h"

namespace sojourn::journeys {
namespace {

// Some 10,000 events a second, as in a real base station. Some threads' clocks are ahead of the
// others'.
std::vector<Observation> observe(const truth::Truth& truth, std::uint64_t ahead_ns) {
  constexpr std::array kAhead = {"D pdcp.in--pdcp.tx", "U mac.demux", "U demux", "U rlc.rx",
                                 "U pdcp.rx--gtp.tx"};
  auto observations = observe_all(truth);
  for (auto& observation : observations) {
    observation.ts_ns *= 100;
    const std::string& where = truth.points[truth.hits[observation.hit].point].where;
    if (std::ranges::any_of(kAhead, [&](const char* begin) { return where.starts_with(begin); }))
      observation.ts_ns += ahead_ns;
  }
  std::ranges::stable_sort(observations, {}, &Observation::ts_ns);
  return observations;
}

struct Sums {
  std::uint64_t lost = 0;
  std::uint64_t complete = 0;
  std::uint64_t doubtful = 0;
  std::uint64_t seen = 0;
  std::uint64_t withheld = 0;
};

void check(const truth::Truth& truth, std::uint32_t seed, double share, Sums& sums) {
  const auto observations = observe(truth, seed % 4 * 5000);
  std::mt19937 random(seed);
  std::bernoulli_distribution is_lost(share);
  std::vector<bool> kept(observations.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = i == 0 || !is_lost(random);
  auto compared = compare_with_losses(truth, observations, kept);
  if (!compared) FAIL(compared.error().text());
  INFO("seed " << seed << ", " << observations.size() << " events, " << compared->lost << " lost");
  std::string words;
  for (const auto& one : compared->words) words += one + "\n";
  INFO(words);
  CHECK(compared->invented == 0);
  CHECK(compared->missed == 0);
  for (const auto& point : compared->totals.points) CHECK(point.orphans == 0);
  sums.lost += compared->lost;
  sums.complete += compared->complete;
  sums.doubtful += compared->doubtful;
  sums.seen += compared->seen;
  sums.withheld += compared->withheld;
}

// The number of complete journeys for which one may be doubtful.
void check(const Sums& sums, std::uint64_t complete_for_doubtful) {
  INFO(sums.lost << " lost, " << sums.complete << " complete, " << sums.doubtful << " doubtful, "
                 << sums.seen << " seen, " << sums.withheld << " withheld");
  CHECK(sums.lost > 1000);
  CHECK(sums.complete > 10'000);
  CHECK(sums.doubtful * complete_for_doubtful <= sums.complete);
  CHECK(sums.seen > 5000);
  CHECK(sums.withheld * 500 <= sums.seen);
}

TEST_CASE("with every mechanism and lost events, nothing is invented and nothing missed") {
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    Radio radio;
    radio.seed = seed;
    radio.ues = 1 + seed % 5;
    radio.loss_percent = 10 + seed % 50;
    radio.sequence = seed % 3 == 0 ? 64 : 4096;
    check(random_radio(radio), seed, seed % 2 == 0 ? 0.001 : 0.02, sums);
  }
  check(sums, 200);
}

TEST_CASE("with RNTIs that change and lost events, nothing is invented and nothing missed") {
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 40; ++seed)
    check(random_roaming({.seed = seed,
                          .ues = 1 + seed % 5,
                          .loss_percent = 5 + seed % 50,
                          .handover_percent = 1 + seed % 4,
                          .sequence = seed % 3 == 0 ? 64U : 4096U}),
          seed, seed % 2 == 0 ? 0.001 : 0.02, sums);
  check(sums, 200);
}

TEST_CASE("with copies that overtake and lost events, nothing is invented and nothing missed") {
  // Numbers do not wrap here. Otherwise a copy whose drop was lost would be taken for a later
  // packet of its number whose own event was lost.
  Sums sums;
  for (std::uint32_t seed = 1; seed <= 40; ++seed)
    check(random_legs(
              {.seed = seed, .ues = 1 + seed % 5, .loss_percent = 5 + seed % 50, .sequence = 4096}),
          seed, seed % 2 == 0 ? 0.001 : 0.02, sums);
  // If two copies wait because a drop was lost, either may be the one that went on.
  check(sums, 100);
}

}  // namespace
}  // namespace sojourn::journeys
