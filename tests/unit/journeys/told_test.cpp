// The calls of an observer, with and without steps.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/journeys/rebuilder.h"
#include "tests/unit/journeys/random_legs.h"
#include "tests/unit/journeys/random_radio.h"
#include "tests/unit/journeys/truth_compare.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;

using Words = std::tuple<std::uint64_t, Outcome, bool, std::uint64_t, std::uint64_t, std::uint32_t,
                         std::uint32_t, std::uint32_t, std::uint32_t>;

class Told : public Observer {
 public:
  explicit Told(bool steps) : steps_(steps) {}
  bool wants_steps() const override { return steps_; }
  void on_journey(const Journey& journey) override {
    journeys.emplace_back(journey.id, journey.outcome, journey.ambiguous, journey.start_ns,
                          journey.end_ns, journey.segments, journey.retransmissions, journey.drops,
                          journey.end_step);
  }

  std::vector<Words> journeys;

 private:
  bool steps_;
};

// The rate of a real base station; every fourth event comes once more, `later_ns` later.
model::EventBatch doubled(const truth::Truth& truth, std::uint64_t later_ns) {
  auto seen = observe_all(truth);
  for (std::size_t i = 0, count = seen.size(); i < count; ++i) {
    seen[i].ts_ns *= 1000;
    if (i % 4 == 0) seen.push_back({seen[i].ts_ns + later_ns, seen[i].hit});
  }
  std::ranges::stable_sort(seen, {}, &Observation::ts_ns);
  model::EventBatch events;
  for (const auto& each : seen) {
    const auto& hit = truth.hits[each.hit];
    events.append({each.ts_ns, events.size(), 0, hit.tid, hit.point, hit.values});
  }
  return events;
}

std::vector<Words> tell(const truth::Truth& truth, const model::EventBatch& events, bool steps) {
  Told told(steps);
  auto rebuilder = Rebuilder::create(schema_of(truth), {}, {}, told);
  REQUIRE(rebuilder);
  rebuilder->consume(events);
  rebuilder->finish();
  return std::move(told.journeys);
}

TEST_CASE("an observer without steps gets the same journeys") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed)
    for (const std::uint64_t later_ns : {20'000'000, 90'000'000, 300'000'000}) {
      INFO("seed " << seed << ", again after " << later_ns);
      for (const auto& truth : {random_radio({.seed = seed, .actions = 1000, .sequence = 4096}),
                                random_legs({.seed = seed, .actions = 1000, .sequence = 4096})}) {
        const auto events = doubled(truth, later_ns);
        const auto with = tell(truth, events, true);
        CHECK(with.size() > 100);
        CHECK(with == tell(truth, events, false));
      }
    }
}

TEST_CASE("a repeated unit repeats the first one, however long ago that left") {
  World world(R"(
    D in--rlc len:rnti:psn
    D rlc--rlc.ack len:rnti:psn
    D rlc--mac len:rnti:psn.so
    D mac--out len:rnti:psn.so
  )");
  world.events(R"(
    1000 D in--rlc 900 1 5
    1100 D rlc--mac 600 1 5 0
    1200 D mac--out 600 1 5 0
    1300 D rlc--mac 300 1 5 600
    1400 D mac--out 300 1 5 600
    3000000000 D rlc--mac 600 1 5 0
    3000000100 D mac--out 600 1 5 0
    3000000200 D rlc--rlc.ack 900 1 5
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 1000..1400: in--rlc@1000 rlc--mac@1100<0 mac--out@1200<1 "
              "rlc--mac@1300<0 mac--out@1400<3* rlc--mac@3000000000<0=1 mac--out@3000000100<5 "
              "rlc--rlc.ack@3000000200<0"});
}

TEST_CASE("an output that reports a unit again repeats the first") {
  World world(R"(
    U ant--rlc.rx len:rnti:rsn
    U rlc.rx--pdcp.rx len:rnti:rsn.psn
    U pdcp.rx--out len:rnti:psn
  )");
  world.events(R"(
    100 U ant--rlc.rx 300 1 9
    110 U rlc.rx--pdcp.rx 300 1 9 5
    120 U pdcp.rx--out 300 1 5
    900 U pdcp.rx--out 300 1 5
  )");
  CHECK(world.journeys() ==
        Lines{"U complete 100..120: ant--rlc.rx@100 rlc.rx--pdcp.rx@110<0 pdcp.rx--out@120<1*",
              "U complete 100..900: ant--rlc.rx@100 rlc.rx--pdcp.rx@110<0 pdcp.rx--out@120<1 "
              "pdcp.rx--out@900<1=2*"});
}

}  // namespace
}  // namespace sojourn::journeys
