// Runs of simulated queues, one after the other: false alarms in spite of frequent looks, the
// number of runs until a slower stage is certain, and its report.
#include "analysis/differential/runs_in_turns.h"

#include <algorithm>
#include <array>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "analysis/differential/difference.h"
#include "tests/unit/differential/queueing.h"

namespace sojourn::differential {
namespace {

using Catch::Approx;

constexpr double kLevel = 0.05;
constexpr unsigned kPairs = 100;
constexpr std::size_t kMostRuns = 60;  // as many as `ab` makes by default

bool of_new(std::size_t run) {
  return run % 4 == 1 || run % 4 == 2;
}

RunFigures run_of(std::uint64_t seed, double load, double extra_us = 0) {
  Stages made = make_queues(seed, 1000, load, 3, extra_us > 0 ? 1 : SIZE_MAX, extra_us);
  RunFigures run;
  run.packets[0].latency_ns = std::move(made.total);
  for (std::size_t stage = 0; stage < 3; ++stage)
    run.packets[0].stays_ns.emplace_back(std::string(1, static_cast<char>('a' + stage)),
                                         std::move(made.stays[stage]));
  return run;
}

// Runs until it is certain, or kMostRuns. The new side's second stage sleeps `extra_us` longer.
RunsInTurns until_certain(std::uint64_t seed, double load, double extra_us) {
  RunsInTurns turns;
  while (turns.runs() < kMostRuns && !turns.is_certain(kLevel)) {
    const bool is_new = of_new(turns.runs());
    turns.add(run_of(seed * 1000 + turns.runs(), load, is_new ? extra_us : 0), is_new);
  }
  return turns;
}

TEST_CASE("among 400 pairs without a difference at most one in twenty is ever certain",
          "[simulation]") {
  constexpr unsigned kMany = 4 * kPairs;
  for (const double load : {0.5, 0.8, 0.9}) {
    CAPTURE(load);
    unsigned alarms = 0;
    for (unsigned pair = 0; pair < kMany; ++pair)
      alarms += until_certain(pair + 1, load, 0).is_certain(kLevel) ? 1 : 0;
    CHECK(alarms <= 28);  // at most 20 are expected; 28 is two standard deviations above
  }
}

TEST_CASE("a stage that sleeps 50 us longer, or one behind it, is certain soon") {
  unsigned named = 0;
  std::vector<std::size_t> runs;
  for (unsigned pair = 0; pair < kPairs; ++pair) {
    const RunsInTurns turns = until_certain(pair + 1, 0.4, 50);
    runs.push_back(turns.runs());
    REQUIRE(turns.surest() != nullptr);
    // Packets also reach the third stage in another rhythm; the first one is as it was.
    const bool is_it = turns.surest()->name != "a";
    named += turns.is_certain(kLevel) && is_it ? 1 : 0;
  }
  CHECK(named >= 95);
  std::ranges::sort(runs);
  CHECK(runs[kPairs / 2] <= 14);
  CHECK(runs[kPairs / 2] >= 8);
}

TEST_CASE("runs in turns are reported with the shift, and have the verdicts of a comparison") {
  RunsInTurns turns;
  CHECK(turns.surest() == nullptr);
  std::vector<RunFigures> base;
  std::vector<RunFigures> now;
  for (std::size_t run = 0; run < 16; ++run) {
    auto& side = of_new(run) ? now : base;
    side.push_back(run_of(run + 1, 0.4, of_new(run) ? 60 : 0));
    turns.add(side.back(), of_new(run));
  }
  REQUIRE(turns.surest() != nullptr);
  const auto shift = turns.surest()->shift();
  REQUIRE(shift);
  CHECK(shift->by() > 60);
  const Difference found =
      difference(base, now, {.unit = Unit::kRun, .level = kLevel, .turns = &turns});
  CHECK(found.may_be_looked_at);
  REQUIRE(found.times.size() == 4);
  for (const Comparison& each : found.times) {
    CAPTURE(each.name);
    const bool slower = each.is_latency || each.name == "b";
    if (slower) CHECK(each.verdict == Verdict::kChanged);
    if (each.name == "a") CHECK(each.verdict == Verdict::kSame);
    CHECK(each.adjusted_p >= each.p.value());
  }
}

TEST_CASE("few runs are too little data, and a place that one side lacks is not compared") {
  RunsInTurns turns;
  std::array<std::vector<RunFigures>, 2> sides;
  for (std::size_t run = 0; run < 4; ++run) {
    auto& side = sides[of_new(run) ? 1 : 0];
    side.push_back(run_of(run + 1, 0.4, of_new(run) ? 500 : 0));
    if (!of_new(run)) side.back().packets[0].stays_ns.pop_back();
    turns.add(side.back(), of_new(run));
  }
  CHECK_FALSE(turns.is_certain(kLevel));
  const Difference found =
      difference(sides[0], sides[1], {.unit = Unit::kRun, .level = kLevel, .turns = &turns});
  for (const Comparison& each : found.times) {
    CAPTURE(each.name);
    CHECK(each.verdict == Verdict::kTooLittle);
    CHECK(each.p.has_value() == (each.name != "c"));
  }
}

}  // namespace
}  // namespace sojourn::differential
