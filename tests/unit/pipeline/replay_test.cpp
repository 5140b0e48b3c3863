// An observer's calls do not depend on the number of rebuilders.
#include "analysis/pipeline/replay.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/pipeline/partitions.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "tests/unit/journeys/random_legs.h"
#include "tests/unit/journeys/random_radio.h"
#include "tests/unit/journeys/truth_compare.h"
#include "tests/unit/pipeline/radio_trace.h"
#include "userspace/base/thread_executor.h"
#include "userspace/files/trace_file.h"

namespace sojourn::pipeline {
namespace {

// Every call, in its order. For two places at one time the order does not matter.
class Words : public journeys::Observer {
 public:
  explicit Words(bool wants_order) : wants_order_(wants_order) {}

  bool wants_order() const override { return wants_order_; }
  void on_journey(const journeys::Journey& journey) override {
    auto line =
        fmt::format("{} {} {} {}..{} {} {} {} {}:", journey.id, letter(journey.direction),
                    name(journey.outcome), journey.start_ns, journey.end_ns, journey.segments,
                    journey.retransmissions, journey.ambiguous, journey.alternatives);
    for (const auto& step : journey.steps)
      line += fmt::format(" {}@{}<{}={}({})", step.point, step.ts_ns, fmt::join(step.parents, ","),
                          step.repeat_of, fmt::join(step.values, ","));
    for (const auto& ambiguity : journey.ambiguities)
      for (const auto& other : ambiguity.alternatives)
        line += fmt::format(" or {}", fmt::join(other.values, ","));
    journeys.push_back(std::move(line));
  }
  void on_stay(const journeys::Stay& stay) override {
    stays.push_back(fmt::format("{} {} {} {} {} ({}) ({})", stay.pair, stay.entered_ns,
                                stay.left_ns, stay.entered_by, stay.left_by,
                                fmt::join(stay.values, ","), fmt::join(stay.entered_values, ",")));
  }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    note(place, ts_ns, fmt::format("{} enters", ts_ns));
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    note(place, ts_ns, fmt::format("{} leaves since {} {}", ts_ns, entered_ns, seen));
  }

  std::vector<std::string> journeys;
  std::vector<std::string> stays;
  std::map<std::uint16_t, std::vector<std::string>> changes;  // by place

 private:
  void note(std::uint16_t place, std::uint64_t ts_ns, std::string words) {
    if (wants_order_) REQUIRE(ts_ns >= last_ns_);
    last_ns_ = ts_ns;
    changes[place].push_back(std::move(words));
  }

  std::uint64_t last_ns_ = 0;
  bool wants_order_;
};

void compare(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  for (std::size_t at = 0; at < std::min(found.size(), expected.size()); ++at) {
    CAPTURE(at);
    REQUIRE(found[at] == expected[at]);
  }
  REQUIRE(found.size() == expected.size());
}

void check(const std::string& path, bool wants_order) {
  auto input = *TraceInput::create(*files::open_trace(path), {});
  REQUIRE(can_partition(input.reader()));
  const auto directions = directions_of(input.topology());
  REQUIRE_FALSE(directions.empty());
  PlainExecutor plain;
  base::ThreadExecutor threads;
  Words expected(wants_order);
  REQUIRE(rebuild_here(plain, input, expected, {}));
  REQUIRE(expected.journeys.size() > 300);
  REQUIRE(expected.stays.size() > 1000);
  REQUIRE(expected.changes.size() >= 5);
  for (Executor* const executor : std::initializer_list<Executor*>{&plain, &threads})
    for (const bool apart : {false, true}) {
      INFO((executor == &plain ? "plain" : "threads") << (apart ? ", each direction" : ", all"));
      Words found(wants_order);
      const auto parts = apart ? std::span(directions) : std::span(directions).first(0);
      REQUIRE(rebuild(*executor, input, parts, found, {}));
      compare(found.journeys, expected.journeys);
      compare(found.stays, expected.stays);
      for (const auto& [place, changes] : expected.changes) compare(found.changes[place], changes);
    }
}

// Loses `lost_percent` of the events; the first ones are before the open mark.
void write_truth(const std::string& path, const truth::Truth& truth, std::uint32_t lost_percent) {
  auto writer = *files::create_trace(path);
  REQUIRE(writer.write(journeys::schema_of(truth)));
  std::minstd_rand random(7);
  model::EventBatch events;
  std::uint64_t seq = 0;
  for (const auto& seen : journeys::observe_all(truth)) {
    const auto& hit = truth.hits[seen.hit];
    if (random() % 100 >= lost_percent)
      events.append({seen.ts_ns * 100, seq, 0, hit.tid, hit.point, hit.values});
    ++seq;
  }
  model::Capture capture;
  capture.open_ns = events.ts_ns().front();
  capture.close_ns = events.ts_ns().back() + 1;
  REQUIRE(writer.write(events));
  REQUIRE(writer.write(capture));
  REQUIRE(writer.finish());
}

TEST_CASE("rebuilders of each direction make the same calls to an observer as one rebuilder") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, 5'000);
  check(path, true);
  check(path, false);
}

// Looks at the steps of uplink journeys only.
class UplinkSteps : public journeys::Observer {
 public:
  bool wants_steps_of(const journeys::Journey& journey) const override {
    return journey.direction == model::Direction::kUplink;
  }
  void on_journey(const journeys::Journey& journey) override {
    (journey.direction == model::Direction::kUplink ? uplink : downlink) += journey.steps.size();
    ++journeys;
    if (journey.ambiguous && journey.direction == model::Direction::kDownlink)
      ambiguous += journey.steps.size();
  }

  std::size_t uplink = 0;
  std::size_t downlink = 0;
  std::size_t journeys = 0;
  std::size_t ambiguous = 0;  // steps of downlink journeys that come with them
};

TEST_CASE("journeys whose steps no observer wants are passed without them") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, 1'000);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  const auto directions = directions_of(input.topology());
  PlainExecutor plain;
  UplinkSteps found;
  REQUIRE(rebuild(plain, input, directions, found, {}));
  CHECK(found.journeys > 1'000);
  CHECK(found.uplink > 1'000);
  CHECK(found.downlink == 0);
}

TEST_CASE("one rebuilder of all does not gather steps that nobody looks at") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, 1'000);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  PlainExecutor plain;
  UplinkSteps found;
  REQUIRE(rebuild_here(plain, input, found, {}));
  CHECK(found.journeys > 1'000);
  CHECK(found.uplink > 1'000);
  CHECK(found.downlink == found.ambiguous);
}

TEST_CASE("for random traffic with losses an observer gets the same calls") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("random.sjt");
  for (std::uint32_t seed = 1; seed <= 4; ++seed)
    for (const std::uint32_t lost_percent : {0, 2, 10}) {
      INFO("seed " << seed << ", " << lost_percent << " % lost");
      for (const auto& truth : {journeys::random_radio({.seed = seed, .ues = 7, .actions = 3000}),
                                journeys::random_legs({.seed = seed, .ues = 7, .actions = 3000})}) {
        write_truth(path, truth, lost_percent);
        check(path, true);
      }
    }
}

}  // namespace
}  // namespace sojourn::pipeline
