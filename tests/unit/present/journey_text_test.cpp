// A journey as people and as programs read it.
#include "analysis/present/journeys/journey_text.h"

#include <array>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/present/journeys/journey_json.h"

namespace sojourn::present {
namespace {

using journeys::Alternative;
using journeys::Ambiguity;

class Line {
 public:
  Line() {
    schema.points.push_back(model::parse_point("D in--a", "len:rnti:sn").value());
    schema.points.push_back(model::parse_point("D a--out", "len:rnti:sn").value());
    for (auto& step : steps) step.values = values;
    steps[0].ts_ns = 1'000;
    steps[1].ts_ns = 3'000;
    steps[1].point = 1;
    steps[1].parents = parents;
    journey.id = 7;
    journey.outcome = journeys::Outcome::kComplete;
    journey.start_ns = 1'000;
    journey.end_ns = 3'000;
    journey.end_step = 1;
    journey.steps = steps;
  }

  // The second step gets this many alternatives.
  void doubt(std::size_t others, bool more, std::uint8_t doubts) {
    for (std::size_t i = 0; i < others; ++i)
      alternatives.push_back({.ts_ns = 900 - 100 * i,
                              .seq = 20 - i,
                              .tid = 42,
                              .stream = 3,
                              .point = 0,
                              .values = values});
    ambiguity = {{1, doubts, more, alternatives}};
    journey.ambiguous = true;
    journey.ambiguities = ambiguity;
  }

  model::Schema schema;
  journeys::Journey journey;

 private:
  std::vector<std::uint64_t> values = {100, 0x4601, 7};
  std::array<std::uint32_t, 1> parents = {0};
  std::array<journeys::Step, 2> steps;
  std::vector<Alternative> alternatives;
  std::vector<Ambiguity> ambiguity;
};

TEST_CASE("an ambiguous step is followed by its alternatives") {
  Line line;
  line.doubt(1, false, journeys::kOthersFit);
  CHECK(journey_text(line.journey, line.schema) ==
        "journey 7  D rnti 0x4601 sn 7  complete  2.00 us  ambiguous\n"
        "   #0      0 ns  in--a  len 100 rnti 0x4601 sn 7\n"
        "   #1   2.00 us  a--out  whole\n"
        "                 ambiguous: or from in--a 2.10 us earlier, rnti 0x4601 sn 7 (stream 3 seq "
        "20)\n");
}

TEST_CASE("the nearest of many alternatives are named, and the others counted") {
  const auto last_line = [](const Line& line) {
    const auto text = journey_text(line.journey, line.schema);
    return text.substr(text.rfind("seq"));
  };
  Line five;
  five.doubt(5, false, journeys::kOthersFit);
  CHECK(last_line(five) == "seq 18); 2 more\n");
  Line many;
  many.doubt(8, true, journeys::kOthersFit | journeys::kLongWait);
  CHECK(last_line(many) ==
        "seq 18); at least 6 more; waited far longer than any before it, and events are missing\n");
}

TEST_CASE("an ambiguous step without alternatives has its reason") {
  Line line;
  line.doubt(0, false, journeys::kProcess);
  CHECK(journey_text(line.journey, line.schema)
            .ends_with("    ambiguous: known by its process only, and events are missing\n"));
}

TEST_CASE("an ambiguous event of JSON says why, and names each that fitted") {
  Line line;
  line.doubt(2, true, journeys::kOthersFit | journeys::kOverlap);
  const auto events = nlohmann::json::parse(journey_json(line.journey, line.schema, {}))["events"];
  CHECK_FALSE(events[0].contains("doubt"));
  CHECK(events[1]["doubt"] == nlohmann::json::parse(R"({
    "because": ["others", "overlap"],
    "alternatives": [
      {"point": "in--a", "t_ns": 900, "tid": 42, "stream": 3, "seq": 20,
       "ids": {"rnti": 17921, "sn": 7}},
      {"point": "in--a", "t_ns": 800, "tid": 42, "stream": 3, "seq": 19,
       "ids": {"rnti": 17921, "sn": 7}}],
    "more": true})"));
}

}  // namespace
}  // namespace sojourn::present
