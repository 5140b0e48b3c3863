// The verdicts of a comparison of runs whose times may be off.
#include "analysis/differential/difference.h"

#include <cstddef>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/differential/runs_in_turns.h"

namespace sojourn::differential {
namespace {

constexpr double kLevel = 0.05;
constexpr std::size_t kRuns = 8;  // of a side

// 200 packets of about this latency, in no two runs the same.
RunFigures run_of(std::size_t number, double latency_ns, double error_ns) {
  RunFigures run;
  run.time_errors = {TimeErrors{.latency_ns = error_ns}, TimeErrors{.latency_ns = error_ns}};
  for (std::size_t packet = 0; packet < 200; ++packet)
    run.packets[0].latency_ns.push_back(static_cast<float>(
        latency_ns + 0.01 * static_cast<double>(number) + static_cast<double>(packet % 7)));
  return run;
}

struct Sides {
  std::vector<RunFigures> base;
  std::vector<RunFigures> now;
  RunsInTurns turns;
};

Sides sides(double shift_ns, double error_ns) {
  Sides made;
  for (std::size_t number = 0; number < kRuns; ++number) {
    made.base.push_back(run_of(number, 1000, error_ns));
    made.turns.add(made.base.back(), false);
    made.now.push_back(run_of(number, 1000 + shift_ns, error_ns));
    made.turns.add(made.now.back(), true);
  }
  return made;
}

Comparison latency(const Sides& of) {
  const Difference found = difference(of.base, of.now, {.level = kLevel});
  REQUIRE(found.times.size() == 1);
  return found.times.front();
}

TEST_CASE("a sure shift is no change if stamps or tracing may be off by as much") {
  const Comparison small = latency(sides(5, 30));
  CHECK(small.adjusted_p <= kLevel);
  CHECK(small.verdict == Verdict::kSame);
  CHECK(small.resolution_ns == 30);
  CHECK(small.is_below_resolution());
  CHECK(latency(sides(-5, 30)).verdict == Verdict::kSame);
  CHECK(latency(sides(50, 30)).verdict == Verdict::kChanged);
  CHECK(latency(sides(-50, 30)).verdict == Verdict::kChanged);
}

TEST_CASE("a shift of less than the unit of stamps is no change") {
  const Comparison small = latency(sides(0.5, 0));
  CHECK(small.adjusted_p <= kLevel);
  CHECK(small.verdict == Verdict::kSame);
  CHECK(small.resolution_ns == kUnitOfTimeNs);
  CHECK(latency(sides(5, 0)).verdict == Verdict::kChanged);
}

TEST_CASE("the run whose times are off most counts, of either side") {
  Sides made = sides(5, 0);
  made.now.back().time_errors = {TimeErrors{.latency_ns = 30}, TimeErrors{}};
  CHECK(latency(made).verdict == Verdict::kSame);
  made.now.back().time_errors = {TimeErrors{},
                                 TimeErrors{.latency_ns = 30}};  // of the other direction
  CHECK(latency(made).verdict == Verdict::kChanged);
}

TEST_CASE("runs in turns are not certain of what their traces cannot show") {
  const Sides small = sides(5, 30);
  REQUIRE(small.turns.surest() != nullptr);
  CHECK(small.turns.surest()->adjusted_p <= kLevel);
  CHECK_FALSE(small.turns.is_certain(kLevel));
  CHECK(sides(50, 30).turns.is_certain(kLevel));
  const Difference found = difference(small.base, small.now,
                                      {.unit = Unit::kRun, .level = kLevel, .turns = &small.turns});
  CHECK(found.times.front().verdict == Verdict::kSame);
}

}  // namespace
}  // namespace sojourn::differential
