// The places that are reported to be as fast as the machine allows.
#include "analysis/causes/stay_floors.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/present/causes/stay_floors_text.h"

namespace sojourn::present {
namespace {

using causes::StayFloors;

host::HostProfile machine() {
  host::HostProfile profile;
  for (const auto& [id, ns] :
       {std::pair{"clocks.monotonic", 20.0}, std::pair{"cores.wakeup", 3000.0}}) {
    host::Measurement one;
    one.id = id;
    one.measured = {.count = 9, .median = ns};
    profile.measurements.push_back(one);
  }
  return profile;
}

struct Run {
  model::Schema schema;
  journeys::Topology topology;
  StayFloors floors{topology};

  Run() {
    for (const char* point : {"D in--a", "D a--b", "D b--out"})
      schema.points.push_back(*model::parse_point(point, "::id"));
    topology = *journeys::Topology::derive(schema, {});
    REQUIRE(topology.pairs.size() == 2);
  }
  void stay(std::uint32_t pair, std::uint64_t ns, bool is_handed_over, int times) {
    for (int time = 0; time < times; ++time)
      floors.on_stay({.pair = pair,
                      .entered_ns = 1000,
                      .left_ns = 1000 + ns,
                      .entered_by = 7,
                      .left_by = is_handed_over ? 8U : 7U,
                      .values = {}});
  }
};

TEST_CASE("a stay that is no longer than a hand-over is as fast as the machine allows") {
  Run run;
  run.stay(0, 4000, true, 30);  // a wakeup and a little
  run.stay(1, 9000, true, 30);  // three of them
  const auto rows = run.floors.as_fast_as_allowed(machine());
  REQUIRE(rows.size() == 1);
  CHECK(run.topology.places[rows[0].place].name ==
        run.topology.places[run.topology.pairs[0].place].name);
  CHECK(rows[0].handover == host::Handover::kOtherThread);
  CHECK(rows[0].count == 30);
  const std::string text = floors_text(rows, run.topology);
  CHECK(text.contains("as fast as this machine allows"));
  CHECK(text.contains("to another thread"));
  CHECK(text.contains("waking a thread on another CPU takes 3.0 us here"));
  CHECK(floors_json(rows, run.topology).at(0).at("floor_ns") == 3000.0);
}

TEST_CASE("within a thread the same stay is far from as fast as it gets") {
  Run run;
  run.stay(0, 4000, false, 30);
  run.stay(1, 25, false, 30);
  const auto rows = run.floors.as_fast_as_allowed(machine());
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].place == run.topology.pairs[1].place);
  CHECK(rows[0].handover == host::Handover::kSameThread);
}

TEST_CASE("few stays, and a machine that was not measured, give no floor") {
  Run run;
  run.stay(0, 4000, true, static_cast<int>(StayFloors::kFewestStays) - 1);
  CHECK(run.floors.as_fast_as_allowed(machine()).empty());
  run.stay(0, 4000, true, 1);
  CHECK(run.floors.as_fast_as_allowed(machine()).size() == 1);
  CHECK(run.floors.as_fast_as_allowed({}).empty());
  CHECK(floors_text({}, run.topology).empty());
}

}  // namespace
}  // namespace sojourn::present
