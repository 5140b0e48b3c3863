#include "analysis/report/rebuild.h"

#include <array>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/writer.h"
#include "tests/bench/radio_traffic.h"
#include "tests/support/child.h"

namespace sojourn::report {
namespace {

constexpr std::uint64_t kPackets = 3000;

// Radio traffic with gaps, each stream in blocks of its own. How many events it has.
std::uint64_t write_radio(const std::string& path, std::uint64_t packets = kPackets) {
  const auto schema = *bench::RadioTraffic::schema();
  auto writer = *trace::Writer::create(path);
  REQUIRE(writer.write(schema));
  std::array<model::EventBatch, bench::RadioTraffic::kThreads> streams;
  bench::RadioTraffic traffic(packets, 7, 10'000);
  std::minstd_rand random;
  std::uint64_t events = 0;
  model::Capture capture;
  capture.open_ns = 1'000'000'000;
  for (model::EventBatch batch; traffic.fill(batch);) {
    capture.close_ns = batch.ts_ns().back() + 1;
    for (std::size_t row = 0; row < batch.size(); ++row) {
      if (random() % 200 == 0) continue;
      streams[batch.stream()[row]].append(batch[row]);
      ++events;
    }
  }
  for (const auto& stream : streams) REQUIRE(writer.write(stream));
  REQUIRE(writer.write(capture));
  REQUIRE(writer.finish());
  return events;
}

// Everything that an observer is told of one direction, but for the ids of journeys.
class Told : public journeys::Observer {
 public:
  Told(const journeys::Topology& topology, model::Direction direction)
      : topology_(topology), direction_(direction) {}

  void on_journey(const journeys::Journey& journey) override {
    if (journey.direction != direction_) return;
    ++journeys;
    note({1, static_cast<std::uint64_t>(journey.outcome), journey.start_ns, journey.end_ns,
          journey.segments, journey.retransmissions, journey.alternatives, journey.steps.size()});
    for (const auto& step : journey.steps)
      note({2, step.ts_ns, step.point, step.repeat_of, step.parents.size()});
  }
  void on_stay(const journeys::Stay& stay) override {
    if (is_mine(topology_.pairs[stay.pair].place))
      note({3, stay.pair, stay.entered_ns, stay.left_ns, stay.entered_by, stay.left_by});
  }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    if (is_mine(place)) note({4, place, ts_ns});
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    if (is_mine(place)) note({5, place, entered_ns, ts_ns, seen ? 1U : 0U});
  }

  std::vector<std::uint64_t> numbers;
  std::uint64_t journeys = 0;

 private:
  bool is_mine(std::uint16_t place) const {
    return topology_.places[place].direction == direction_;
  }
  void note(std::initializer_list<std::uint64_t> more) {
    numbers.insert(numbers.end(), more.begin(), more.end());
  }

  const journeys::Topology& topology_;
  model::Direction direction_;
};

class Both : public journeys::Observer {
 public:
  Both(Told& down, Told& up) : each_{&down, &up} {}

  void on_journey(const journeys::Journey& journey) override {
    for (auto* told : each_) told->on_journey(journey);
  }
  void on_stay(const journeys::Stay& stay) override {
    for (auto* told : each_) told->on_stay(stay);
  }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    for (auto* told : each_) told->on_enter(place, ts_ns);
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    for (auto* told : each_) told->on_leave(place, entered_ns, ts_ns, seen);
  }

 private:
  std::array<Told*, 2> each_;
};

struct Directions {
  explicit Directions(const journeys::Topology& topology)
      : down(topology, model::Direction::kDownlink), up(topology, model::Direction::kUplink) {}
  Told down;
  Told up;
};

TEST_CASE("a thread for each direction finds what one thread finds") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  const auto events = write_radio(path);
  auto reader = *trace::Reader::open(path);
  const journeys::Rules rules;
  const auto topology = *journeys::Topology::derive(reader.schema(), rules);
  REQUIRE(can_rebuild_apart(topology));

  Directions one(topology);
  Both both(one.down, one.up);
  std::uint64_t seen = 0;
  std::uint64_t progressed = 0;
  const auto progress = [&](std::uint64_t done, std::uint64_t) { progressed = done; };
  const auto count = [&](const model::EventBatch& batch) {
    seen += batch.size();
    return true;
  };
  const auto alone = *rebuild(reader, rules, both, progress, count);
  CHECK(seen == events);
  CHECK(progressed == events);
  CHECK(one.down.journeys >= kPackets);
  CHECK(one.up.journeys > 1000);

  for (int turn = 0; turn < 5; ++turn) {
    Directions two(topology);
    seen = 0;
    const auto apart = *rebuild_apart(reader, rules, two.down, two.up, progress, count);
    CHECK(seen == events);
    CHECK(two.down.numbers == one.down.numbers);
    CHECK(two.up.numbers == one.up.numbers);
    CHECK(apart.events == alone.events);
    CHECK(apart.lost == alone.lost);
    CHECK(apart.lengths_differ == alone.lengths_differ);
    CHECK(apart.missing_pieces == alone.missing_pieces);
    for (std::size_t point = 0; point < alone.points.size(); ++point) {
      INFO("point " << point);
      CHECK(apart.points[point].events == alone.points[point].events);
      CHECK(apart.points[point].cut == alone.points[point].cut);
      CHECK(apart.points[point].orphans == alone.points[point].orphans);
      CHECK(apart.points[point].repeats == alone.points[point].repeats);
      CHECK(apart.points[point].ambiguous == alone.points[point].ambiguous);
    }
  }
}

// What is told of journeys beside their steps.
class Plain : public journeys::Observer {
 public:
  explicit Plain(bool wants_steps) : wants_steps_(wants_steps) {}

  bool wants_steps() const override { return wants_steps_; }
  void on_journey(const journeys::Journey& journey) override {
    note({journey.id, static_cast<std::uint64_t>(journey.outcome), journey.start_ns, journey.end_ns,
          journey.last_ns, journey.last_out_ns, journey.segments, journey.retransmissions,
          journey.harq_retransmissions, journey.drops, journey.end_step, journey.inside_until_ns,
          journey.ambiguous ? 1U : 0U});
    for (const auto& leg : journey.way) note({leg.place, leg.ns});
    for (const auto& inside : journey.inside) note({inside.place, inside.since_ns});
    legs += journey.way.size();
    were_inside += journey.inside.size();
    steps += journey.steps.size();
  }

  std::vector<std::uint64_t> numbers;
  std::size_t legs = 0;
  std::size_t were_inside = 0;
  std::size_t steps = 0;

 private:
  void note(std::initializer_list<std::uint64_t> more) {
    numbers.insert(numbers.end(), more.begin(), more.end());
  }

  bool wants_steps_;
};

TEST_CASE("who wants no steps is told everything else of each journey") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path);
  auto reader = *trace::Reader::open(path);
  Plain with(true);
  Plain without(false);
  for (auto* const plain : {&with, &without})
    REQUIRE(rebuild(reader, {}, *plain, [](auto, auto) {}, [](const auto&) { return true; }));
  CHECK(with.steps > 10 * kPackets);
  CHECK(without.steps == 0);
  CHECK(with.legs > 5 * kPackets);
  CHECK(with.were_inside > 0);
  CHECK(without.numbers == with.numbers);
}

TEST_CASE("who has seen enough ends all threads, and nothing more is told") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path);
  auto reader = *trace::Reader::open(path);
  const journeys::Rules rules;
  const auto topology = *journeys::Topology::derive(reader.schema(), rules);
  Directions two(topology);
  int batches = 0;
  const auto some = [&](const model::EventBatch&) { return ++batches < 3; };
  REQUIRE(rebuild_apart(reader, rules, two.down, two.up, [](auto, auto) {}, some));
  CHECK(batches == 3);
  CHECK(two.up.journeys < 1000);
  CHECK(two.down.journeys < kPackets);
}

TEST_CASE("who fails while many batches are to come ends all threads, and its failure is told") {
  constexpr std::uint64_t kMany = 30'000;
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, kMany);
  auto reader = *trace::Reader::open(path);
  const auto topology = *journeys::Topology::derive(reader.schema(), {});
  Directions told(topology);
  Both both(told.down, told.up);
  const auto full = [](const model::EventBatch&) -> bool { throw std::runtime_error("no space"); };
  const auto progress = [](auto, auto) {};
  CHECK_THROWS_AS(rebuild(reader, {}, both, progress, full), std::runtime_error);
  CHECK_THROWS_AS(rebuild_apart(reader, {}, told.down, told.up, progress, full),
                  std::runtime_error);
}

TEST_CASE("one direction alone needs no second thread") {
  model::Schema schema;
  schema.points.push_back(*model::parse_point("D a--b", "len:rnti:sn"));
  schema.points.push_back(*model::parse_point("I depth", "len"));
  CHECK_FALSE(can_rebuild_apart(*journeys::Topology::derive(schema, {})));
}

}  // namespace
}  // namespace sojourn::report
