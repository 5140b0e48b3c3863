// Change points within a run of simulated queues: false alarms, and a stage that gets slower in the
// middle.
#include "analysis/differential/changes_within.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/differential/queueing.h"

namespace sojourn::differential {
namespace {

constexpr double kLevel = 0.05;
constexpr unsigned kRuns = 100;
constexpr std::uint64_t kApartNs = 1000;

// Three stages in a line; from the packet `slow_from` on the second one's stays are longer.
RunFigures run_of(std::uint64_t seed, std::size_t packets, double load, std::size_t slow_from,
                  float extra_us) {
  Stages made = make_queues(seed, packets, load, 3);
  RunFigures run;
  RunOfPackets& of = run.packets[0];
  for (std::size_t packet = 0; packet < packets; ++packet) {
    of.start_ns.push_back(packet * kApartNs);
    if (packet < slow_from) continue;
    made.stays[1][packet] += extra_us;
    made.total[packet] += extra_us;
  }
  of.latency_ns = std::move(made.total);
  for (std::size_t stage = 0; stage < 3; ++stage)
    of.stays_ns.emplace_back(std::string(1, static_cast<char>('a' + stage)),
                             std::move(made.stays[stage]));
  return run;
}

RunFigures steady(std::uint64_t seed, double load) {
  return run_of(seed, load < 0.9 ? 30'000 : 120'000, load, SIZE_MAX, 0);
}

const SeriesWithin& series_of(const ChangesWithin& found, const std::string& name) {
  const auto series = std::ranges::find(found.series, name, &SeriesWithin::name);
  REQUIRE(series != found.series.end());
  return *series;
}

TEST_CASE("runs in which nothing changes raise no more alarms than the level allows",
          "[simulation]") {
  for (const double load : {0.5, 0.8, 0.9}) {
    CAPTURE(load);
    unsigned alarms = 0;
    unsigned without_data = 0;
    for (unsigned run = 0; run < kRuns; ++run) {
      const ChangesWithin found = changes_within(steady(run + 1, load), kLevel);
      REQUIRE(found.series.size() == 4);
      alarms += std::ranges::any_of(found.series,
                                    [](const auto& series) { return !series.changes.empty(); })
                    ? 1
                    : 0;
      without_data += series_of(found, "latency").mean_ns.size() < found.blocks_needed ? 1 : 0;
    }
    CHECK(alarms <= 11);
    CHECK(without_data < kRuns / 4);
  }
}

TEST_CASE("a stage that gets slower is named with the instant, and others are not",
          "[simulation]") {
  constexpr std::size_t kPackets = 30'000;
  constexpr std::size_t kSlowFrom = 18'000;
  unsigned named = 0;
  unsigned others = 0;
  for (unsigned run = 0; run < kRuns; ++run) {
    const ChangesWithin found =
        changes_within(run_of(run + 1, kPackets, 0.4, kSlowFrom, 50), kLevel);
    const SeriesWithin& slower = series_of(found, "b");
    others +=
        series_of(found, "a").changes.empty() && series_of(found, "c").changes.empty() ? 0 : 1;
    if (slower.changes.size() != 1) continue;
    const ChangePoint& change = slower.changes.front();
    const std::uint64_t at = slower.start_ns[change.at] / kApartNs;
    const std::uint64_t off = at > kSlowFrom ? at - kSlowFrom : kSlowFrom - at;
    named += off <= 2 * slower.block_packets && change.after > change.before ? 1 : 0;
  }
  CHECK(named >= 90);
  CHECK(others <= 11);
}

TEST_CASE("a shift within the error of the times is no change") {
  RunFigures run = run_of(1, 30'000, 0.4, 15'000, 50);
  CHECK(series_of(changes_within(run, kLevel), "b").changes.size() == 1);
  run.time_errors[0] = {.latency_ns = 1000, .stays_ns = {{"b", 1000.0}}};
  CHECK(series_of(changes_within(run, kLevel), "b").changes.empty());
}

TEST_CASE("packets that were not in a place are in none of its blocks") {
  RunFigures run = run_of(1, 20'000, 0.3, SIZE_MAX, 0);
  auto& stays = run.packets[0].stays_ns[2].second;
  for (std::size_t packet = 0; packet < stays.size(); packet += 2) stays[packet] = NAN;
  const ChangesWithin found = changes_within(run, kLevel);
  const SeriesWithin& series = series_of(found, "c");
  CHECK(series.packets == 10'000);
  REQUIRE(!series.start_ns.empty());
  CHECK(series.start_ns.front() == kApartNs);
  CHECK(series.start_ns.size() == series.mean_ns.size());
}

TEST_CASE("a change leaves blocks as short as they were without it") {
  const auto blocks_of = [](float extra_us) {
    const RunFigures run = run_of(3, 30'000, 0.4, 15'000, extra_us);
    return blocks_between_changes(run.packets[0].stays_ns[1].second);
  };
  REQUIRE(blocks_of(0));
  REQUIRE(blocks_of(500));
  CHECK(blocks_of(500)->length <= 2 * blocks_of(0)->length);
  // Over the whole run no block is independent.
  const RunFigures run = run_of(3, 30'000, 0.4, 15'000, 500);
  CHECK_FALSE(independent_blocks(run.packets[0].stays_ns[1].second,
                                 effective_size(run.packets[0].stays_ns[1].second)));
}

TEST_CASE("a short run, and one without packets, show nothing") {
  const ChangesWithin found = changes_within(run_of(1, 200, 0.3, 100, 500), kLevel);
  for (const SeriesWithin& series : found.series) {
    CHECK(series.changes.empty());
    CHECK(series.block_packets == 0);
  }
  CHECK(found.blocks_needed >= kFewestForChange);
  CHECK(changes_within(RunFigures(), kLevel).series.empty());
}

}  // namespace
}  // namespace sojourn::differential
