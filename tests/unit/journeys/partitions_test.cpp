// Several rebuilders that each do a part find together what one finds.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/journeys/rebuilder.h"
#include "tests/unit/journeys/random_legs.h"
#include "tests/unit/journeys/random_radio.h"
#include "tests/unit/journeys/truth_compare.h"

namespace sojourn::journeys {
namespace {

using model::Direction;

// All calls of an observer, without the ids of journeys. Changes of places have the turn at which
// they became known, and the rebuilder that reported them.
struct Words {
  using Change = std::tuple<std::uint64_t, std::uint32_t, std::string>;

  std::vector<std::string> journeys;
  std::vector<std::string> stays;
  std::vector<Change> changes;

  void sort() {
    std::ranges::sort(journeys);
    std::ranges::sort(stays);
    std::ranges::stable_sort(changes, {}, [](const Change& change) {
      return std::pair(std::get<0>(change), std::get<1>(change));
    });
  }
  std::vector<std::string> texts_of_changes() const {
    std::vector<std::string> texts;
    for (const auto& change : changes) texts.push_back(std::get<2>(change));
    return texts;
  }
};

class Told : public Observer {
 public:
  Told(Words& words, std::uint32_t who) : words_(words), who_(who) {}

  bool wants_order() const override { return false; }
  void begin(const Rebuilder& rebuilder) { turn_ = &rebuilder.turn().position; }
  void on_journey(const Journey& journey) override {
    auto line = fmt::format("{} {} {}..{} {} {} {} {} {}:", letter(journey.direction),
                            name(journey.outcome), journey.start_ns, journey.end_ns,
                            journey.segments, journey.retransmissions, journey.drops,
                            journey.ambiguous, journey.alternatives);
    for (const auto& step : journey.steps)
      line += fmt::format(" {}@{}<{}={}", step.point, step.ts_ns, fmt::join(step.parents, ","),
                          step.repeat_of);
    words_.journeys.push_back(std::move(line));
  }
  void on_stay(const Stay& stay) override {
    words_.stays.push_back(fmt::format("{} {} {}", stay.pair, stay.entered_ns, stay.left_ns));
  }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    words_.changes.emplace_back(*turn_, who_, fmt::format("{} +{}", place, ts_ns));
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    words_.changes.emplace_back(*turn_, who_,
                                fmt::format("{} -{} {} {}", place, entered_ns, ts_ns, seen));
  }

 private:
  Words& words_;
  std::uint32_t who_;
  const std::uint64_t* turn_ = nullptr;
};

// The rate of a real base station, with `lost_percent` of the events lost.
model::EventBatch events_of(const truth::Truth& truth, std::uint32_t lost_percent) {
  std::minstd_rand random(7);
  model::EventBatch events;
  std::uint64_t seq = 0;
  for (const auto& seen : observe_all(truth)) {
    const auto& hit = truth.hits[seen.hit];
    if (random() % 100 >= lost_percent)
      events.append({seen.ts_ns * 100, seq, 0, hit.tid, hit.point, hit.values});
    ++seq;
  }
  return events;
}

Words tell(const model::Schema& schema, const model::EventBatch& events,
           const std::vector<std::optional<Partition>>& parts) {
  Words words;
  std::uint32_t who = 0;
  for (const auto& part : parts) {
    Told told(words, who++);
    auto rebuilder = Rebuilder::create(schema, {}, {.open_ns = events.ts_ns().front()}, told, part);
    REQUIRE(rebuilder);
    told.begin(*rebuilder);
    rebuilder->consume(events);
    rebuilder->finish();
  }
  words.sort();
  return words;
}

Words tell_divided(const model::Schema& schema, const model::EventBatch& events,
                   std::uint32_t shares, std::uint32_t each) {
  std::vector<std::optional<Partition>> parts;
  for (const auto direction : {Direction::kDownlink, Direction::kUplink})
    for (std::uint32_t begin = 0; begin < shares; begin += each)
      parts.emplace_back(Partition{direction, shares, begin, begin + each});
  return tell(schema, events, parts);
}

TEST_CASE("each part finds its share of the journeys of one rebuilder") {
  std::size_t journeys = 0;
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    const auto truth = random_radio({.seed = seed, .ues = 7, .actions = 4000, .sequence = 4096});
    const auto schema = schema_of(truth);
    const auto topology = *Topology::derive(schema, {});
    REQUIRE(topology.is_divisible(Direction::kDownlink));
    REQUIRE(topology.is_divisible(Direction::kUplink));
    const auto events = events_of(truth, 0);
    const auto whole = tell(schema, events, {std::nullopt});
    journeys += whole.journeys.size();
    const auto directions = tell_divided(schema, events, 1, 1);
    CHECK(directions.journeys == whole.journeys);
    CHECK(directions.stays == whole.stays);
    const auto shares = tell_divided(schema, events, 4, 1);
    CHECK(shares.journeys == whole.journeys);
    CHECK(shares.stays == whole.stays);
  }
  CHECK(journeys > 7000);
}

TEST_CASE("one rebuilder of several shares finds the same as one for each share") {
  for (std::uint32_t seed = 1; seed <= 8; ++seed)
    for (const std::uint32_t lost_percent : {0, 2}) {
      INFO("seed " << seed << ", " << lost_percent << " % lost");
      for (const auto& truth : {random_radio({.seed = seed, .ues = 7, .actions = 2000}),
                                random_legs({.seed = seed, .ues = 7, .actions = 2000})}) {
        const auto schema = schema_of(truth);
        const auto events = events_of(truth, lost_percent);
        const auto one_each = tell_divided(schema, events, 4, 1);
        for (const std::uint32_t each : {2, 4}) {
          const auto several = tell_divided(schema, events, 4, each);
          CHECK(several.journeys == one_each.journeys);
          CHECK(several.stays == one_each.stays);
          CHECK(several.texts_of_changes() == one_each.texts_of_changes());
        }
      }
    }
}

TEST_CASE("each share has its part of the units") {
  const auto truth = random_radio({.seed = 3, .ues = 7, .actions = 4000, .sequence = 4096});
  const auto schema = schema_of(truth);
  const auto events = events_of(truth, 0);
  const auto totals_of = [&](std::size_t units, std::uint32_t shares) {
    Rules rules;
    rules.max_units = units;
    Observer nobody;
    auto rebuilder = Rebuilder::create(schema, rules, {}, nobody,
                                       Partition{Direction::kDownlink, shares, 0, shares});
    REQUIRE(rebuilder);
    rebuilder->consume(events);
    rebuilder->finish();
    return rebuilder->totals();
  };
  const auto most = totals_of(1'000'000, 1).peak_units;
  CHECK(totals_of(most, 1).crowded == 0);
  // Seven are not shared out evenly to four.
  CHECK(totals_of(most, 4).crowded > 0);
  CHECK(totals_of(4 * most, 4).crowded == 0);
}

}  // namespace
}  // namespace sojourn::journeys
