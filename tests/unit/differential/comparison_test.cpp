// Alarms on seeded queues without a difference, and with one stage that got slower.
#include "analysis/differential/comparison.h"

#include <array>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/differential/anderson_darling.h"
#include "analysis/differential/difference.h"
#include "tests/unit/differential/queueing.h"

namespace sojourn::differential {
namespace {

constexpr double kLevel = 0.05;
constexpr std::size_t kStages = 3;
constexpr unsigned kPairs = 100;

using Series = std::vector<std::vector<float>>;

// By stage, and last of the whole line of them; each with its runs.
std::vector<Series> side(std::uint64_t seed, std::size_t runs, std::size_t packets, double load,
                         double extra_us = 0) {
  std::vector<Series> by_stage(kStages + 1);
  for (std::size_t run = 0; run < runs; ++run) {
    Stages made = make_queues(seed * 1000 + run, packets, load, kStages,
                              extra_us > 0 ? 1 : SIZE_MAX, extra_us);
    for (std::size_t stage = 0; stage < kStages; ++stage)
      by_stage[stage].push_back(std::move(made.stays[stage]));
    by_stage[kStages].push_back(std::move(made.total));
  }
  return by_stage;
}

std::vector<Comparison> compared(const std::vector<Series>& base, const std::vector<Series>& now,
                                 Unit unit) {
  constexpr std::array<double, 1> kShares = {kMean};
  std::vector<Comparison> all;
  for (std::size_t stage = 0; stage < base.size(); ++stage)
    all.push_back(compare(base[stage], now[stage], unit, kShares));
  judge(all, kLevel);
  return all;
}

bool alarms(const std::vector<Comparison>& all) {
  for (const Comparison& each : all)
    if (each.verdict == Verdict::kChanged) return true;
  return false;
}

TEST_CASE("runs of the same queues raise no more alarms than the level allows", "[simulation]") {
  for (const double load : {0.5, 0.8, 0.9}) {
    CAPTURE(load);
    unsigned raised = 0;
    for (unsigned pair = 0; pair < kPairs; ++pair)
      raised += alarms(compared(side(2 * pair + 1, 6, 1000, load),
                                side(2 * pair + 2, 6, 1000, load), Unit::kRun))
                    ? 1
                    : 0;
    CHECK(raised <= 11);
  }
}

TEST_CASE("blocks of two traces of the same queues raise no more alarms than the level allows",
          "[simulation]") {
  for (const double load : {0.5, 0.8, 0.9}) {
    CAPTURE(load);
    unsigned raised = 0;
    unsigned without_data = 0;
    // The busier, the longer it takes until a queue has forgotten.
    const std::size_t packets = load < 0.9 ? 15'000 : 60'000;
    for (unsigned pair = 0; pair < kPairs; ++pair) {
      const auto all = compared(side(2 * pair + 1, 1, packets, load),
                                side(2 * pair + 2, 1, packets, load), Unit::kBlock);
      raised += alarms(all) ? 1 : 0;
      without_data += all[kStages].verdict == Verdict::kTooLittle ? 1 : 0;
    }
    CHECK(raised <= 11);
    CHECK(without_data < kPairs / 4);
  }
}

TEST_CASE("packets taken as independent raise alarms where nothing differs") {
  // The false alarms that the tests above guard against.
  unsigned raised = 0;
  for (unsigned pair = 0; pair < 20; ++pair) {
    std::vector<std::vector<double>> samples;
    for (unsigned one = 0; one < 2; ++one) {
      const Stages made = make_queues(2 * pair + one + 1, 2000, 0.8, 1);
      samples.emplace_back(made.total.begin(), made.total.end());
    }
    raised += p_value(samples, *anderson_darling(samples)).midrank <= kLevel ? 1 : 0;
  }
  CHECK(raised > 12);
}

TEST_CASE("a stage that sleeps 50 us longer is named, with its latency, and nothing before it",
          "[simulation]") {
  unsigned named = 0;
  unsigned with_total = 0;
  unsigned others = 0;
  for (unsigned pair = 0; pair < kPairs; ++pair) {
    const auto all = compared(side(2 * pair + 1, 7, 1000, 0.4),
                              side(2 * pair + 2, 7, 1000, 0.4, 50), Unit::kRun);
    named += all[1].verdict == Verdict::kChanged ? 1 : 0;
    with_total += all[kStages].verdict == Verdict::kChanged ? 1 : 0;
    others += all[0].verdict == Verdict::kChanged ? 1 : 0;
  }
  CHECK(named >= 95);
  CHECK(with_total >= 95);
  CHECK(others <= 11);
}

TEST_CASE("a shift has its size, in an interval that holds the truth") {
  unsigned held = 0;
  for (unsigned pair = 0; pair < kPairs; ++pair) {
    // Times between arrivals do not queue: so the truth is known.
    std::vector<Series> sides(2);
    for (unsigned one = 0; one < 2; ++one)
      for (unsigned run = 0; run < 5; ++run) {
        std::mt19937_64 random(100 * pair + 10 * one + run);
        std::exponential_distribution<double> time(1 / 100.0);
        std::vector<float> values;
        for (unsigned at = 0; at < 1000; ++at)
          values.push_back(static_cast<float>(time(random) + (one == 1 ? 20 : 0)));
        sides[one].push_back(std::move(values));
      }
    constexpr std::array kShares = {kMean, 0.5, 0.99};
    const Comparison found = compare(sides[0], sides[1], Unit::kRun, kShares);
    REQUIRE(found.shifts.size() == 3);
    const Shift* median = found.shift(0.5);
    REQUIRE((median != nullptr && median->half));
    held += std::abs(median->by() - 20) <= *median->half ? 1 : 0;
  }
  CHECK(held >= 89);
}

TEST_CASE("a place that grows with the latency has the slowdown 1, one that does not has less") {
  const auto row = [](const char* name, bool is_latency, double base, double now) {
    Comparison each = {.name = name, .is_latency = is_latency};
    each.shifts = {{.share = kMean, .base = base, .now = now, .half = std::nullopt}};
    return each;
  };
  std::vector<Comparison> all = {row("latency", true, 100, 200), row("work", false, 50, 100),
                                 row("wait", false, 50, 50), row("none", false, 0, 50)};
  all.push_back(row("other", false, 50, 100));
  all.back().direction = 'U';
  add_slowdowns(all);
  CHECK_FALSE(all[0].slowdown);
  CHECK(all[1].slowdown == 1.0);
  CHECK(all[2].slowdown == 0.5);
  CHECK_FALSE(all[3].slowdown);
  CHECK_FALSE(all[4].slowdown);  // of a direction without a latency
}

TEST_CASE("three runs of each side are too little, and how many are not is known") {
  const auto all = compared(side(1, 3, 500, 0.5), side(2, 3, 500, 0.5, 400), Unit::kRun);
  for (const Comparison& each : all) CHECK(each.verdict == Verdict::kTooLittle);
  CHECK(runs_needed(1, kLevel) == 4);
  CHECK(runs_needed(4, kLevel) == 5);
  CHECK(runs_needed(30, kLevel) == 7);
}

TEST_CASE("a trace too short for blocks is too little data") {
  const auto all = compared(side(1, 1, 1000, 0.9), side(2, 1, 1000, 0.9, 400), Unit::kBlock);
  CHECK(all[kStages].verdict == Verdict::kTooLittle);
  CHECK_FALSE(all[kStages].p);
}

TEST_CASE("a figure that one side never had is not compared") {
  const Series some = {{1, 2, 3}, {2, 3, 4}};
  const Series none(2);
  constexpr std::array kShares = {kMean};
  std::vector<Comparison> all = {compare(some, none, Unit::kRun, kShares)};
  judge(all, kLevel);
  CHECK(all[0].verdict == Verdict::kTooLittle);
  CHECK(all[0].shifts.empty());
}

}  // namespace
}  // namespace sojourn::differential
