#include "analysis/differential/distribution_band.h"

#include <cmath>
#include <cstdint>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/differential/queueing.h"

namespace sojourn::differential {
namespace {

using Catch::Approx;

TEST_CASE("Student's t is that of tables") {
  CHECK(student_t_95_series(7) == Approx(2.3646).epsilon(0.003));
  CHECK(student_t_95_series(20) == Approx(2.0860).epsilon(0.0005));
  CHECK(student_t_95_series(63) == Approx(student_t_95(63)).epsilon(0.0001));
}

// Times in an M/M/1 system are exponential with the mean 100 us / (1 - load).
double covered(double load, std::size_t packets, double share) {
  constexpr std::uint64_t kRuns = 300;
  const double value = -std::log(share) * 100 / (1 - load);
  std::uint64_t told = 0;
  std::uint64_t within = 0;
  for (std::uint64_t run = 1; run <= kRuns; ++run) {
    const Stages made = make_queues(run, packets, load, 1);
    const DistributionBand band(made.total);
    const auto interval = band.above(value);
    if (!interval) continue;
    ++told;
    within += interval->low <= share && share <= interval->high ? 1 : 0;
  }
  CHECK(told > kRuns / 2);
  return static_cast<double>(within) / static_cast<double>(told);
}

TEST_CASE("the band of packets that share a queue holds the truth about as often as it says",
          "[simulation]") {
  CHECK(covered(0.5, 8'000, 0.5) > 0.9);
  CHECK(covered(0.5, 8'000, 0.1) > 0.9);
  CHECK(covered(0.5, 8'000, 0.01) > 0.85);
  CHECK(covered(0.8, 40'000, 0.5) > 0.88);
  CHECK(covered(0.8, 40'000, 0.01) > 0.8);
}

TEST_CASE("the band is about the measured share, and wider than packets as observations make it") {
  const Stages made = make_queues(1, 40'000, 0.8, 1);
  const DistributionBand band(made.total);
  REQUIRE(band.blocks() >= kMinBlocks);
  for (const double value : {100.0, 500.0, 1500.0}) {
    double above = 0;
    for (const float one : made.total) above += static_cast<double>(one) > value ? 1 : 0;
    const double share = above / static_cast<double>(made.total.size());
    const auto interval = band.above(value);
    REQUIRE(interval);
    CHECK(interval->low < share);
    CHECK(interval->high > share);
    CHECK(interval->high - interval->low >
          3 * 1.96 * std::sqrt(share * (1 - share) / static_cast<double>(made.total.size())));
  }
}

TEST_CASE("a tail that no packet reached is bounded, and too little data has no band") {
  const Stages made = make_queues(1, 40'000, 0.5, 1);
  const auto interval = DistributionBand(made.total).above(1e9);
  REQUIRE(interval);
  CHECK(interval->low == 0);
  CHECK(interval->high > 0);
  CHECK(interval->high < 0.01);
  CHECK(!DistributionBand(std::span(made.total).first(20)).above(100));
}

}  // namespace
}  // namespace sojourn::differential
