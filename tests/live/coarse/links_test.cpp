// Units that change their ids: followed through calls, by their order on a thread, by values of the
// calls around them, and by addresses that are used again at once.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/coarse/subject.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

constexpr const char* kMap = R"toml(
# What is received is known by its buffer, and behind PDCP by its copy.
[[point]]
function = "radio::receive"
direction = "U"
src = "air"
dest = "rlc"
number = "*(u32*)(arg0 + 8)"
bb = "arg0"
local = ["bb"]
begins = ["bb"]

[[point]]
function = "radio::handle_pdu"
direction = "U"
src = "rlc"
dest = "pdcp"
number = "*(u32*)(arg0 + 8)"
bb = "arg0"
local = ["bb"]

[[point]]
function = "radio::accept"
direction = "U"
src = "pdcp"
dest = "network.queue"
link = "nesting"
number = "*(u32*)(arg0 + 8)"
copy = "arg0"
local = ["copy"]
begins = ["copy"]

[[point]]
function = "radio::send"
direction = "U"
src = "network.queue"
dest = "core"
number = "*(u32*)(arg0 + 8)"
copy = "arg0"
local = ["copy"]
ends = ["copy"]

# What is pulled knows neither its slot nor its user.
[[point]]
function = "radio::slot"
direction = "S"
src = "slot"
slot = "(u32)arg0"
local = ["slot"]

# It returns its block in registers, so that its arguments are where they seem to be.
[[point]]
function = "radio::assemble"
src = "assemble"
rnti = "(u16)arg0"
global = ["rnti"]

[[point]]
function = "radio::pull"
direction = "D"
src = "queue"
dest = "mac"
inherit = ["rnti", "slot"]
number = "(u32)arg0"
global = ["rnti"]
local = ["slot", "number"]

[[point]]
function = "radio::transmit"
direction = "D"
src = "mac"
dest = "radio"
slot = "*(u32*)arg0"
rnti = "*(u16*)(arg0 + 4)"
first = "*(u32*)(arg0 + 8)"
units = "*(u32*)(arg0 + 12)"
global = ["rnti"]
local = ["slot"]

# Only their order tells.
[[point]]
function = "radio::begin"
direction = "U"
src = "in"
dest = "work"
number = "(u32)arg0"

[[point]]
function = "radio::end"
direction = "U"
src = "work"
dest = "done"
link = "order"
number = "(u32)arg0"

[[point]]
function = "radio::collect"
direction = "D"
src = "parts"
dest = "whole"
number = "(u32)arg0"
local = ["number"]

[[point]]
function = "radio::flush"
direction = "D"
src = "whole"
dest = "flushed"
link = "gather"
last = "(u32)arg0"
)toml";

// Returns a value of an event, as a property or as an id.
std::uint64_t value(const json& event, const char* name) {
  for (const char* kind : {"properties", "ids"})
    if (event.at(kind).contains(name)) return event.at(kind).at(name).get<std::uint64_t>();
  FAIL("an event without " << name << ": " << event.dump());
  return 0;
}

// The outcomes of the journeys, by the place where they end.
struct Tally {
  std::map<std::string, std::uint64_t> complete;
  std::map<std::string, std::uint64_t> incomplete;  // by the place where they were seen last
  std::uint64_t ambiguous = 0;
};

void check_uplink(const json& journey, Tally& tally) {
  const json& events = journey.at("events");
  const std::string dest = events.back().at("dest");
  if (journey.at("ambiguous").get<bool>()) ++tally.ambiguous;
  if (!journey.at("complete").get<bool>()) {
    ++tally.incomplete[dest];
    return;
  }
  ++tally.complete[dest];
  CHECK(events.size() == (dest == "core" ? 4 : 2));
  const std::uint64_t number = value(events.front(), "number");
  for (const json& event : events) CHECK(value(event, "number") == number);
  if (dest == "core") CHECK(number % 5 != 0);
  if (dest == "done") CHECK((number & 0x7fff'ffff) % 3 != 0);
}

void check_downlink(const json& journey, Tally& tally) {
  const json& events = journey.at("events");
  if (journey.at("ambiguous").get<bool>()) ++tally.ambiguous;
  const std::string dest = events.back().at("dest");
  if (!journey.at("complete").get<bool>()) {
    ++tally.incomplete[dest];
    return;
  }
  ++tally.complete[dest];
  REQUIRE(events.size() == 2);
  const std::uint64_t number = value(events.front(), "number");
  if (dest == "radio") {
    const std::uint64_t first = value(events.back(), "first");
    CHECK(number >= first);
    CHECK(number < first + value(events.back(), "units"));
    CHECK(value(events.front(), "slot") == value(events.back(), "slot"));
  } else {
    const std::uint64_t last = value(events.back(), "last");
    CHECK(number <= last);
    CHECK(number + 2 >= last);
  }
}

TEST_CASE("units that no id follows are followed by calls, order, and the lives of addresses") {
  need_root();
  const std::string name = GENERATE("links-O0", "links-O2");
  CAPTURE(name);
  CoarseSubject target(name, kMap);
  const test::Ended ended = target.record("500ms");
  CHECK_FALSE(ended.err.contains("not traced"));
  CHECK(target.running());

  Tally tally;
  const auto journeys = json_lines(sojourn_done({"journeys", "--json", target.trace()}));
  for (const json& journey : journeys)
    (journey.at("dir") == "U" ? check_uplink : check_downlink)(journey, tally);
  for (const char* dest : {"core", "done", "radio", "flushed"}) {
    CAPTURE(dest);
    CHECK(tally.complete[dest] > 50);
  }
  CHECK(tally.ambiguous == 0);

  // The hits of each point: only those at the capture's two ends are not in whole journeys.
  std::map<std::string, std::uint64_t> hits;
  trace::Reader reader = open_trace(target.trace());
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      ++hits[reader.schema().points[batch[row].point].src];
    return true;
  }));
  const auto nearly_all = [&](const std::string& dest, const std::string& src) {
    CAPTURE(dest, src, hits[src]);
    CHECK(tally.complete[dest] <= hits[src]);
    CHECK(tally.complete[dest] + 12 >= hits[src]);
  };
  nearly_all("core", "network.queue");
  nearly_all("done", "work");
  nearly_all("radio", "queue");
  nearly_all("flushed", "parts");
  // Each unit that PDCP discarded is found as its own.
  CHECK(hits["rlc"] > hits["pdcp"]);

  // Ids are known when the trace is read, and shown.
  const auto slots =
      sojourn_done({"events", target.trace(), "--points", "queue--mac", "--limit", "3"});
  CHECK(slots.contains(" slot "));
  CHECK_FALSE(slots.contains("stack-pointer"));
  CHECK_FALSE(slots.contains("inherited-"));
}

TEST_CASE("values that are only known when a trace is read cannot select recorded events") {
  need_root();
  CoarseSubject target("links-O2", kMap);
  const test::Ended refused = sojourn(
      target.with_map("record", {"--allow-slow-sites", "--for", "200ms", "-o", target.trace(),
                                 "--points", "queue--mac", "--where", "slot == 3"}));
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.contains("slot"));
  CHECK_FALSE(std::filesystem::exists(target.trace()));

  target.record("200ms");
  const auto known = sojourn_done(
      {"events", target.trace(), "--where", "point == queue--mac && rnti == 0x4602", "--json"});
  // A slot that had begun before the capture is unknown.
  std::size_t rows = 0;
  for (const json& event : json_lines(known)) {
    CHECK(event.at("fields").at("rnti") == 0x4602);
    const bool has_slot = event.at("fields").at("slot").is_number();
    CHECK((has_slot || rows == 0));
    if (has_slot) ++rows;
  }
  CHECK(rows > 10);
}

}  // namespace
}  // namespace sojourn::live
