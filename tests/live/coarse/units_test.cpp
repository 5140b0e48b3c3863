// Units on their way through unprepared programs: they become journeys, and queues that are known
// by addresses only have the right contents.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/live/coarse/subject.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// A map in two forms: with the names of values, and with their places in memory.
std::string cpp_map(bool by_name) {
  constexpr const char* kCppMap = R"toml(
[[point]]
function = "Bearer::send"
direction = "D"
src = "sdu.in"
dest = "bearer"
rnti = "{rnti}"
sn = "{sn}"
len = "{len}"
global = ["rnti"]
local = ["sn"]

[[point]]
function = "radio::Bearer::handle_sdu(radio::Pdu const&)"
direction = "D"
src = "bearer"
dest = "out"
rnti = "{rnti}"
sn = "{sn}"
global = ["rnti"]
local = ["sn"]

[[point]]
function = "radio::Bearer::count<*>"
src = "counted"
number = "{number}"
)toml";
  return fmt::format(kCppMap, fmt::arg("rnti", by_name ? "this->rnti_" : "*(u16*)(arg0 + 8)"),
                     fmt::arg("sn", by_name ? "pdu.sn" : "*(u32*)arg1"),
                     fmt::arg("len", by_name ? "pdu.bytes" : "*(u16*)(arg1 + 4)"),
                     fmt::arg("number", by_name ? "(u64)number" : "arg1"));
}

TEST_CASE(
    "a program whose exceptions go through probed functions survives, and its packets are "
    "journeys") {
  need_root();
  const std::string name = GENERATE("cpp-O0", "cpp-O2", "cpp-O2-stripped", "cpp-O2-g");
  CAPTURE(name);
  CoarseSubject target(name, cpp_map(name == "cpp-O2-g"));
  const test::Ended ended = target.record("300ms");
  CHECK_FALSE(ended.err.contains("not traced"));

  trace::Reader reader = open_trace(target.trace());
  std::map<std::string, std::uint64_t> hits;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::Point& point = reader.schema().points[batch[row].point];
      const Values values = values_of(point, batch[row]);
      ++hits[point.src];
      if (point.src == "counted") continue;
      CHECK(values.at("rnti") == 0x4601);
      if (point.src == "sdu.in")
        CHECK(values.at("len") == static_cast<std::uint16_t>(values.at("sn") * 5));
    }
    return true;
  }));
  CHECK(hits["sdu.in"] > 50);
  CHECK(hits["bearer"] + 1 >= hits["sdu.in"]);
  CHECK(hits["bearer"] <= hits["sdu.in"] + 1);
  CHECK(hits["counted"] + 2 >= 2 * hits["sdu.in"]);  // by two instances of the template

  const json report = json::parse(sojourn_done({"report", "--json", target.trace()}));
  CHECK(report.at("journeys").at("D").at("complete").get<std::uint64_t>() + 1 >= hits["sdu.in"]);

  const test::Ended subject_ended = target.end(SIGTERM);
  CHECK(subject_ended.exit_code == 0);
  unsigned rounds = 0;
  unsigned sent = 0;
  unsigned thrown = 0;
  const std::string words = subject_ended.out.substr(subject_ended.out.find("rounds"));
  REQUIRE(std::sscanf(words.c_str(), "rounds %u sent %u thrown %u", &rounds, &sent, &thrown) == 3);
  CHECK(sent + thrown == rounds);
  CHECK(thrown == (rounds + 2) / 3);
}

constexpr const char* kQueueMap = R"toml(
[[queue]]
name = "ring"
enqueue = "ring_put(arg0 = queue, arg1 = item, (u32)arg2 = number)"
dequeue = "ring_get(arg0 = queue, *(u64*)arg0 = item, *(u32*)(*(u64*)arg0 + 16) = number)"

[[queue]]
name = "stack"
direction = "U"
enqueue = "stack_push(arg0 = queue, arg1 = item, (u32)arg2 = number)"
dequeue = "stack_pop(arg0 = queue, *(u64*)arg0 = item, *(u32*)(*(u64*)arg0 + 16) = number)"
)toml";

TEST_CASE("items of a queue are identified by their addresses") {
  need_root();
  const std::string name = GENERATE("queues-O0", "queues-O2");
  CAPTURE(name);
  CoarseSubject target(name, kQueueMap);
  const test::Ended ended = target.record("300ms");
  CHECK_FALSE(ended.err.contains("not traced"));
  // Calls for an empty queue are filtered.
  CHECK(ended.err.contains(" filtered"));

  trace::Reader reader = open_trace(target.trace());
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> inside;
  std::uint64_t taken = 0;
  std::uint64_t first = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::Point& point = reader.schema().points[batch[row].point];
      const Values values = values_of(point, batch[row]);
      const std::pair key(values.at("queue"), values.at("item"));
      const std::uint64_t number = values.at("number");
      CHECK(key.second != 0);
      CHECK(key.second != key.first);
      if (point.src.starts_with("put.")) {
        if (first == 0) first = number;
        CHECK(inside.emplace(key, number).second);
        continue;
      }
      if (first == 0 || number < first) continue;  // it was put in before the capture
      ++taken;
      REQUIRE(inside.contains(key));
      CHECK(inside.at(key) == number);
      inside.erase(key);
    }
    return true;
  }));
  CHECK(taken > 200);
  CHECK(inside.size() <= 10);

  // Addresses are printed in hexadecimal.
  const std::string text = sojourn_done({"events", target.trace(), "--limit", "1"});
  CHECK(text.contains(" queue 0x"));
  CHECK(text.contains(" item 0x"));
  CHECK(text.contains(" number "));
  CHECK_FALSE(text.contains(" number 0x"));
  const std::string stays = sojourn_done({"journeys", target.trace(), "--limit", "1"});
  CHECK(stays.contains(" queue 0x"));
  CHECK(stays.contains(" item 0x"));

  const json report = json::parse(sojourn_done({"report", "--json", target.trace()}));
  for (const json& queue : report.at("queues"))
    CHECK(queue.at("max") == (queue.at("name") == "ring" ? 7 : 3));
  CHECK(report.at("queues").size() == 2);
  for (const char* direction : {"D", "U"}) {
    const json journeys = report.at("journeys").at(direction);
    CHECK(journeys.at("complete") > 50);
    CHECK(journeys.at("incomplete") == 0);
    CHECK(journeys.at("ambiguous") == 0);
    CHECK(journeys.at("latency_us").at("min") >= 1000);
  }
  CHECK(target.running());
}

}  // namespace
}  // namespace sojourn::live
