// Clocks of CPUs of which the truth is known, and packets between them.
#include "analysis/differential/cpu_clocks.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

// Packets between CPUs whose clocks are ahead of the true time by these amounts.
std::vector<CpuHop> hops_of(const std::vector<double>& ahead_ns, unsigned packets,
                            std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> any(0, ahead_ns.size() - 1);
  std::exponential_distribution<double> queued(1 / 2000.0);
  std::vector<CpuHop> hops;
  while (hops.size() < packets) {
    const std::size_t from = any(random);
    const std::size_t to = any(random);
    // The way to later CPUs is busier.
    const double took = 80 + queued(random) * (from < to ? 10 : 1);
    if (from != to)
      hops.push_back({.from = from, .to = to, .took_ns = took + ahead_ns[to] - ahead_ns[from]});
  }
  return hops;
}

TEST_CASE("offsets of CPUs' clocks are within the bounds that packets between them leave") {
  for (std::uint64_t machine = 1; machine <= 50; ++machine) {
    std::mt19937_64 random(machine);
    std::uniform_real_distribution<double> off(-50'000, 50'000);
    const std::vector<double> ahead = {0, off(random), off(random), 0, off(random)};
    const auto bounds = bounds_of_offsets(ahead.size(), hops_of(ahead, 5000, machine));
    REQUIRE(bounds);
    REQUIRE(bounds->size() == ahead.size());
    for (std::size_t cpu = 0; cpu < ahead.size(); ++cpu) {
      CAPTURE(machine, cpu, ahead[cpu], (*bounds)[cpu].low, (*bounds)[cpu].high);
      CHECK((*bounds)[cpu].low <= ahead[cpu]);
      CHECK((*bounds)[cpu].high >= ahead[cpu]);
      CHECK((*bounds)[cpu].half() < 1000);
    }
    const CpuClock apart = {.cpu = 1, .ahead_ns = (*bounds)[1]};
    if (std::abs(ahead[1]) > 2000) {
      CHECK(apart.is_apart());
      CHECK(std::abs(apart.correction_ns() - ahead[1]) <= apart.error_ns());
    }
    const CpuClock alike = {.cpu = 3, .ahead_ns = (*bounds)[3]};
    CHECK_FALSE(alike.is_apart());
    CHECK(alike.correction_ns() == 0);
    CHECK(alike.error_ns() >= 80);
  }
}

TEST_CASE("a worked example: the tightest bounds come round by a third CPU") {
  // Clock 1 is ahead by at most 5 directly, by 1 + 2 by way of clock 2; at least by -(-1) = 1.
  const std::vector<CpuHop> hops = {{.from = 0, .to = 1, .took_ns = 5},
                                    {.from = 0, .to = 2, .took_ns = 1},
                                    {.from = 2, .to = 1, .took_ns = 2},
                                    {.from = 1, .to = 0, .took_ns = -1}};
  const auto bounds = bounds_of_offsets(3, hops);
  REQUIRE(bounds);
  CHECK((*bounds)[0].low == 0);
  CHECK((*bounds)[0].high == 0);
  CHECK((*bounds)[1].low == 1);
  CHECK((*bounds)[1].high == 3);
  CHECK((*bounds)[2].low == -1);
  CHECK((*bounds)[2].high == 1);
}

TEST_CASE("packets of one direction leave a clock open, and contradicting ones are an error") {
  const auto open = bounds_of_offsets(2, std::vector<CpuHop>{{.from = 0, .to = 1, .took_ns = -7}});
  REQUIRE(open);
  CHECK((*open)[1].high == -7);
  const CpuClock clock = {.cpu = 1, .ahead_ns = (*open)[1]};
  CHECK_FALSE(clock.is_bounded());
  CHECK(clock.correction_ns() == 0);

  const auto wrong =
      bounds_of_offsets(2, std::vector<CpuHop>{{.from = 0, .to = 1, .took_ns = -700},
                                               {.from = 1, .to = 0, .took_ns = 100}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text().find("contradict each other by 600 ns") != std::string::npos);
}

}  // namespace
}  // namespace sojourn::differential
