// The places in which threads are at work, from their events.
#include "analysis/profile/thread_work.h"

#include <map>
#include <string>
#include <tuple>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::profile {
namespace {

enum : model::PointId { kEnter = 0, kToQueue = 1, kFromQueue = 2, kOut = 3, kSlot = 4, kOther = 5 };

model::Point point(const char* words) {
  auto parsed = model::parse_point(words, "len::psn");
  REQUIRE(parsed);
  return *parsed;
}

// in -> work -> queue -> send -> out, and another packet's way in the other direction.
struct World {
  model::Schema schema{{point("D ip.in--pdcp.work"), point("D pdcp.work--rlc.tx"),
                        point("D rlc.tx.um--mac.send"), point("D mac.send--phy.out"),
                        point("I slot"), point("U phy.in--mac.rx")}};
  journeys::Topology topology;
  // By thread, place and key.
  std::map<std::tuple<std::uint32_t, std::string, std::uint64_t>, std::uint64_t> taken;
  ThreadLocation last;
  std::optional<ThreadWork> work;

  World() {
    auto derived = journeys::Topology::derive(schema, {});
    REQUIRE(derived);
    topology = std::move(*derived);
    work.emplace(topology,
                 [this](const ThreadLocation& at, std::uint64_t key, const SampleSum& amount) {
                   const std::string name =
                       at.place == kBetweenUnits ? "between" : topology.places[at.place].name;
                   taken[{at.tid, name, key}] += amount.weight;
                   last = at;
                 });
  }
  void event(std::uint32_t tid, model::PointId point) {
    work->on_event({.tid = tid, .point = point, .values = {}});
  }
  std::uint64_t sum(std::uint32_t tid, const std::string& place, std::uint64_t key = 0) {
    return taken[{tid, place, key}];
  }
  std::uint64_t passes(const std::string& name) const {
    for (std::size_t place = 0; place < topology.places.size(); ++place)
      if (topology.places[place].name == name) return work->passes()[place];
    return 0;
  }
};

TEST_CASE("a thread's time between entering and leaving a place is work in that place") {
  World world;
  world.event(7, kEnter);
  world.work->hold(7, 0, 100);
  world.work->hold(7, 1, 5);
  world.work->hold(7, 0, 20);
  world.event(7, kToQueue);
  CHECK(world.sum(7, "pdcp.work") == 120);
  CHECK(world.sum(7, "pdcp.work", 1) == 5);
  CHECK(world.passes("pdcp.work") == 1);
}

TEST_CASE("a thread that has put a unit into a queue works on something else") {
  World world;
  world.event(7, kEnter);
  world.event(7, kToQueue);
  world.work->hold(7, 0, 100);  // it waits for the next packet
  world.event(7, kEnter);
  CHECK(world.sum(7, "between") == 100);
  CHECK(world.last.after == kToQueue);
  CHECK(world.last.before == kEnter);
  CHECK(world.sum(7, "rlc.tx") == 0);
  CHECK(world.passes("rlc.tx") == 0);
}

TEST_CASE("a place is left by a source that continues its name") {
  World world;
  world.event(7, kToQueue);
  world.work->hold(7, 0, 100);
  world.event(7, kFromQueue);  // the same thread takes it out again
  CHECK(world.sum(7, "rlc.tx") == 100);
}

TEST_CASE("threads are distinguished, and other directions and places are no way out") {
  World world;
  world.event(7, kEnter);
  world.event(8, kFromQueue);
  world.work->hold(7, 0, 1);
  world.work->hold(8, 0, 2);
  world.event(8, kOther);
  world.event(7, kToQueue);
  CHECK(world.sum(7, "pdcp.work") == 1);
  CHECK(world.sum(8, "mac.send") == 0);
  CHECK(world.sum(8, "between") == 2);
}

TEST_CASE("scalars do not end a piece of work") {
  World world;
  world.event(7, kEnter);
  world.work->hold(7, 0, 1);
  world.event(7, kSlot);
  world.work->hold(7, 0, 1);
  world.event(7, kToQueue);
  CHECK(world.sum(7, "pdcp.work") == 2);
}

TEST_CASE("before a thread's first event, after its last and without any it is between units") {
  World world;
  world.work->hold(7, 0, 1);
  world.event(7, kEnter);
  world.work->hold(7, 0, 10);
  world.work->hold(9, 0, 100);
  world.work->finish();
  CHECK(world.sum(7, "between") == 11);
  CHECK(world.sum(9, "between") == 100);
  CHECK(world.last.before == model::kNoPoint);
  CHECK(world.sum(7, "pdcp.work") == 0);
}

TEST_CASE("an event of a point that the schema does not have changes nothing") {
  World world;
  world.event(7, kEnter);
  world.event(7, 4711);
  world.work->hold(7, 0, 1);
  world.event(7, kToQueue);
  CHECK(world.sum(7, "pdcp.work") == 1);
}

}  // namespace
}  // namespace sojourn::profile
