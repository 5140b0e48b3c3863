#include "analysis/page/page_engine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/capture_info.h"
#include "analysis/model/schema.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/writer.h"
#include "tests/golden/fixture.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::page {
namespace {

using nlohmann::json;

class Columns : public AnswerSink {
 public:
  void column(std::string_view name, std::span<const double> values) override {
    doubles[std::string(name)].assign(values.begin(), values.end());
  }
  void column(std::string_view name, std::span<const std::uint8_t> values) override {
    bytes[std::string(name)].assign(values.begin(), values.end());
  }
  void progress(std::uint64_t, std::uint64_t of) override { last_of = of; }

  std::map<std::string, std::vector<double>> doubles;
  std::map<std::string, std::vector<std::uint8_t>> bytes;
  std::uint64_t last_of = 0;
};

class RadioPage {
 public:
  RadioPage() : engine_(opened(directory_)) {}

  Result<std::string> ask(const json& question) { return engine_.answer(question.dump(), columns); }
  PageEngine& engine() { return engine_; }
  json answer(const json& question) {
    const auto text = ask(question);
    REQUIRE(text);
    return json::parse(*text);
  }

  Columns columns;

 private:
  static PageEngine opened(const test::TemporaryDirectory& directory) {
    const std::string trace = directory.path("radio.sjt");
    REQUIRE(golden::write_trace(SJ_GOLDEN "/radio.events", trace));
    auto source = files::open_source(trace);
    REQUIRE(source);
    auto engine = PageEngine::open(std::move(*source));
    REQUIRE(engine);
    return std::move(*engine);
  }

  test::TemporaryDirectory directory_;
  PageEngine engine_;
};

// A LatSeq recording of packets that go through one place, with these stays.
std::string recording(const std::vector<std::uint64_t>& stays_us) {
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  const auto add = [&](std::uint64_t us, const char* point, std::size_t packet) {
    lines.emplace_back(us, fmt::format("{}.{:06} D {} len100:rnti{}:sn{}\n", us / 1'000'000,
                                       us % 1'000'000, point, packet % 3, packet));
  };
  for (std::size_t packet = 0; packet < stays_us.size(); ++packet) {
    const std::uint64_t in_us = 1'000'000 + packet * 100;
    add(in_us, "in--a", packet);
    add(in_us + stays_us[packet], "a--out", packet);
  }
  std::ranges::stable_sort(lines, {}, [](const auto& line) { return line.first; });
  std::string text;
  for (const auto& [us, line] : lines) text += line;
  return text;
}

std::unique_ptr<trace::ByteSource> source_of(const std::string& text) {
  return std::make_unique<trace::MemorySource>(
      "recording",
      std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));  // NOLINT
}

// Mostly fast packets; `slow` of them, from the one with this number on, take ten times as long.
std::vector<std::uint64_t> stays(std::size_t slow, std::size_t from) {
  std::vector<std::uint64_t> all;
  for (std::size_t packet = 0; packet < 11'000; ++packet)
    all.push_back((packet >= from && packet < from + slow ? 10 : 1) * (100 + packet * 7919 % 50));
  return all;
}

json answer_of(PageEngine& engine, const json& question, Columns& columns) {
  const auto text = engine.answer(question.dump(), columns);
  REQUIRE(text);
  return json::parse(*text);
}

void require_first_screen(PageEngine& engine, const std::string& where, Columns& columns) {
  const auto ask = [&](const char* call, Columns& into) {
    return answer_of(engine, {{"call", call}, {"where", where}}, into);
  };
  Columns separate;
  CAPTURE(where);
  const json screen = ask("first screen", columns);
  CHECK(screen["report"] == ask("report", separate));
  CHECK(screen["explanation"] == ask("explain", separate));
  CHECK(screen["count"] == ask("journeys", separate)["count"]);
  CHECK(!screen["explanation"]["worst"].empty());
  for (const char* const name : {"id", "start"})
    CHECK(columns.doubles[name] == separate.doubles[name]);
  for (const char* const name : {"direction", "outcome"})
    CHECK(columns.bytes[name] == separate.bytes[name]);
  CHECK(std::ranges::equal(columns.doubles["latency"], separate.doubles["latency"],
                           [](double left, double right) {
                             return left == right || (std::isnan(left) && std::isnan(right));
                           }));
}

TEST_CASE("the first screen is what report, explain and journeys say") {
  RadioPage page;
  for (const char* const where : {"", "dir == U", "segments > 1"})
    require_first_screen(page.engine(), where, page.columns);
}

TEST_CASE("the first screen takes one pass, and two where a trace begins slower than it goes on") {
  const auto passes = [](const std::vector<std::uint64_t>& stays_us, const std::string& where) {
    const std::string text = recording(stays_us);
    auto engine = PageEngine::open(source_of(text));
    REQUIRE(engine);
    Columns columns;
    require_first_screen(*engine, where, columns);
    Columns again;
    answer_of(*engine, {{"call", "first screen"}, {"where", where}}, again);
    return again.last_of / (2 * stays_us.size());
  };
  CHECK(passes(stays(60, 10'000), "") == 1);
  CHECK(passes(stays(60, 10'000), "rnti == 1") == 1);
  CHECK(passes(stays(60, 100), "") == 2);  // of the first thousand: more than 5 %, not 1 % of all
  // None is slower than the slowest tenth, all of which took the same time.
  std::vector<std::uint64_t> alike(11'000, 100);
  for (std::size_t packet = 0; packet < alike.size(); packet += 10) alike[packet] = 170;
  CHECK(passes(alike, "") == 1);
}

TEST_CASE("two traces are compared, each with the filter, and either can be asked about") {
  const std::string slow = recording(stays(5000, 3000));
  const std::string fast = recording(stays(0, 0));
  auto engine = PageEngine::open(source_of(fast));
  REQUIRE(engine);
  Columns columns;
  CHECK(engine->answer(R"({"call": "compare"})", columns).error().text() ==
        "there is no second trace to compare with");
  CHECK(engine->answer(R"({"call": "report", "trace": 1})", columns).error().text() ==
        "there is no second trace");
  REQUIRE(engine->compare_with(source_of(slow)));
  const json told = answer_of(*engine, {{"call", "compare"}}, columns);
  REQUIRE(told["times"][0]["name"] == "latency");
  CHECK(told["unit"] == "block");
  CHECK(told["times"][0]["count"] == json({11'000, 11'000}));
  for (const auto& [trace, figure] : {std::pair(0, "base_us"), std::pair(1, "new_us")}) {
    const json report = answer_of(*engine, {{"call", "report"}, {"trace", trace}}, columns);
    const json& latency = report["journeys"]["D"]["latency_us"];
    const json& shifts = told["times"][0]["shifts"];
    REQUIRE(shifts[1]["of"] == "p50");
    CHECK(shifts[1][figure] == latency["p50"]);
    REQUIRE(shifts[3]["of"] == "p99");
    CHECK(shifts[3][figure] == latency["p99"]);
  }
  const json some = answer_of(*engine, {{"call", "compare"}, {"where", "rnti == 1"}}, columns);
  CHECK(some["times"][0]["count"] == json({3667, 3667}));
  // Another second trace takes its place; one that cannot be read does not.
  CHECK(!engine->compare_with(source_of("dear diary")));
  CHECK(answer_of(*engine, {{"call", "compare"}}, columns) == told);
  REQUIRE(engine->compare_with(source_of(fast)));
  const json same = answer_of(*engine, {{"call", "compare"}}, columns);
  for (const json& row : same["times"])
    for (const json& shift : row["shifts"]) CHECK(shift["by_us"] == 0);
}

TEST_CASE("what a trace is of is said without reading its events") {
  RadioPage page;
  const json about = page.answer({{"call", "about"}});
  const json report = page.answer({{"call", "report"}});
  for (const char* const name : {"target", "events", "duration_s", "open_ns"})
    CHECK(about[name] == report[name]);
  CHECK(page.answer({{"call", "profile"}}) == json({{"missing", ""}}));
}

TEST_CASE("a row a journey, with the latency that the journey itself says") {
  RadioPage page;
  const json answer = page.answer({{"call", "journeys"}, {"where", ""}});
  const auto& ids = page.columns.doubles["id"];
  REQUIRE(answer["count"] == ids.size());
  REQUIRE(ids.size() > 3);
  std::size_t timed = 0;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const json packet =
        page.answer({{"call", "packet"}, {"id", static_cast<std::uint64_t>(ids[row])}});
    const json& journey = packet["journey"];
    CHECK((journey["dir"] == "D") == (page.columns.bytes["direction"][row] == 0));
    CHECK(journey["segments"] == page.columns.bytes["segments"][row]);
    const double latency = page.columns.doubles["latency"][row];
    if (std::isnan(latency)) continue;
    CHECK(journey["latency_ns"] == static_cast<std::uint64_t>(latency));
    ++timed;
  }
  CHECK(timed > 0);
}

// An event by its stream and its number there.
std::pair<std::uint64_t, std::uint64_t> key_of(const json& event) {
  return {event["stream"].get<std::uint64_t>(), event["seq"].get<std::uint64_t>()};
}

TEST_CASE("each stay of a packet is told among those of its hop, and who was in its blocks") {
  RadioPage page;
  page.answer({{"call", "journeys"}, {"where", ""}});
  const auto ids = page.columns.doubles["id"];
  const json report = page.answer({{"call", "report"}, {"where", ""}});
  std::map<std::pair<std::string, std::string>, double> greatest;  // by hop
  std::map<std::uint64_t, std::set<std::pair<std::uint64_t, std::uint64_t>>> events;
  std::map<std::uint64_t, json> shared;
  for (const double id : ids) {
    const json packet = page.answer({{"call", "packet"}, {"id", static_cast<std::uint64_t>(id)}});
    const json& all = packet["journey"]["events"];
    for (const json& event : all) {
      events[static_cast<std::uint64_t>(id)].insert(key_of(event));
      REQUIRE(event["at_most"].size() == event["parents"].size());
      for (std::size_t at = 0; at < event["parents"].size(); ++at) {
        if (event["at_most"][at].is_null()) continue;
        const double share = event["at_most"][at];
        CHECK(share >= 0);
        CHECK(share <= 1);
        double& most =
            greatest[{all[event["parents"][at].get<std::size_t>()]["point"], event["point"]}];
        most = std::max(most, share);
      }
    }
    shared[static_cast<std::uint64_t>(id)] = packet;
  }
  CHECK(std::ranges::count_if(greatest, [](const auto& hop) { return hop.second == 1; }) > 5);

  // Counted again from the events themselves.
  std::size_t blocks = 0;
  for (const auto& [id, packet] : shared)
    for (const json& one : packet["shared"]) {
      const json& event = packet["journey"]["events"][one["event"].get<std::size_t>()];
      const auto others = std::ranges::count_if(events, [&](const auto& other) {
        return other.first != id && other.second.contains(key_of(event));
      });
      CHECK(others == one["others"]);
      ++blocks;
    }
  CHECK(blocks > 0);
  std::size_t joined = 0;
  for (const auto& [id, packet] : shared)
    for (const json& one : packet["joined"]) {
      const json& event = packet["journey"]["events"][one["event"].get<std::size_t>()];
      CHECK(one["from_ns"] <= event["t_ns"]);
      CHECK(events[one["journey"]].contains(key_of(event)));
      ++joined;
    }
  CHECK(joined > 0);
}

TEST_CASE("the names that filters are made of are those of the trace") {
  RadioPage page;
  const json names = page.answer({{"call", "names"}});
  CHECK(names["points"][0]["name"] == "ip.in--pdcp.in");
  CHECK(names["points"][0]["ids"] == json::array({"rnti", "drb", "gsn"}));
  CHECK(!names["cpus"].empty());
}

TEST_CASE("one piece of each complete packet took as long as the packet, and none longer") {
  RadioPage page;
  page.answer({{"call", "journeys"}, {"by", "direction"}});
  const auto ids = page.columns.doubles["id"];
  const auto latencies = page.columns.doubles["latency"];
  const json answer = page.answer({{"call", "pieces"}});
  const auto& pieces = page.columns.doubles;
  REQUIRE(answer["count"] == pieces.at("id").size());
  std::map<double, double> longest;
  for (std::size_t at = 0; at < pieces.at("id").size(); ++at) {
    double& so_far = longest[pieces.at("id")[at]];
    so_far = std::max(so_far, pieces.at("latency")[at]);
  }
  std::map<double, double> wanted;
  for (std::size_t row = 0; row < ids.size(); ++row)
    if (!std::isnan(latencies[row])) wanted[ids[row]] = latencies[row];
  CHECK(longest == wanted);
  CHECK(pieces.at("id").size() > wanted.size());
}

TEST_CASE("complete packets have a group, and each group its name") {
  RadioPage page;
  const json answer = page.answer({{"call", "journeys"}, {"by", "ue"}});
  const auto& groups = page.columns.doubles["group"];
  REQUIRE(groups.size() == answer["count"]);
  const auto complete = std::ranges::count(page.columns.bytes["outcome"], 0);
  CHECK(std::ranges::count_if(groups, [](double group) { return group >= 0; }) == complete);
  REQUIRE(!answer["groups"].empty());
  for (const double group : groups) CHECK(group < static_cast<double>(answer["groups"].size()));
  for (const json& name : answer["groups"]) CHECK(name.get<std::string>().starts_with("rnti "));
}

TEST_CASE("a filter narrows every answer the same way") {
  RadioPage page;
  const json all = page.answer({{"call", "report"}});
  const json some = page.answer({{"call", "report"}, {"where", "dir == U"}});
  CHECK(some["journeys"]["U"]["count"] == all["journeys"]["U"]["count"]);
  CHECK(some["journeys"]["D"]["count"] == 0);
  const json rows = page.answer({{"call", "journeys"}, {"where", "dir == U"}});
  CHECK(rows["count"] == all["journeys"]["U"]["count"]);
  for (const std::uint8_t direction : page.columns.bytes["direction"]) CHECK(direction == 1);
  const json events = page.answer({{"call", "events"}, {"where", "dir == U"}});
  REQUIRE(!events["events"].empty());
  for (const json& event : events["events"]) CHECK(event["dir"] == "U");
}

TEST_CASE("packets have the ids that journeys names them by, in the order of the question") {
  RadioPage page;
  page.answer({{"call", "journeys"}, {"where", ""}});
  std::vector<std::uint64_t> ids;
  for (const double id : page.columns.doubles["id"]) ids.push_back(static_cast<std::uint64_t>(id));
  std::ranges::reverse(ids);
  ids.push_back(999'999);  // no packet has it
  const json told = page.answer({{"call", "ids"}, {"ids", ids}});
  std::size_t named = 0;
  for (std::size_t at = 0; at + 1 < ids.size(); ++at) {
    CAPTURE(ids[at]);
    const json journey = page.answer({{"call", "packet"}, {"id", ids[at]}})["journey"];
    const json& known = journey.contains("known_ids") ? journey["known_ids"] : journey["ids"];
    CHECK(told["ue"][at] == fmt::format("rnti {:#x}", known["rnti"].get<std::uint64_t>()));
    if (!known.contains("drb")) continue;
    ++named;
    CHECK(told["bearer"][at] == fmt::format("drb {}", known["drb"].get<std::uint64_t>()));
    for (const char* const number : {"gsn", "psn"})
      if (known.contains(number))
        CHECK(told["number"][at].get<std::string>().contains(
            fmt::format("{} {}", number, known[number].get<std::uint64_t>())));
  }
  CHECK(named > 1);
  for (const char* const kind : {"ue", "bearer", "number"}) CHECK(told[kind].back() == "");
}

TEST_CASE("why a packet took its time adds up to its latency") {
  RadioPage page;
  const json explained = page.answer({{"call", "explain"}});
  REQUIRE(!explained["worst"].empty());
  const json& worst = explained["worst"][0];
  const json packet = page.answer({{"call", "packet"}, {"id", worst["id"]}});
  CHECK(packet["why"] == worst["why"]);
  std::uint64_t sum = 0;
  for (const json& part : packet["parts"]) {
    std::uint64_t drawn = 0;
    for (const json& stretch : part["stretches"])
      drawn += stretch[1].get<std::uint64_t>() - stretch[0].get<std::uint64_t>();
    CHECK(drawn == part["ns"]);
    sum += drawn;
  }
  CHECK(sum == worst["latency_ns"]);
}

TEST_CASE("what some packets have in common is told with filters that find as many") {
  RadioPage page;
  const json told = page.answer({{"call", "differences"}, {"slow", "segments > 1"}, {"where", ""}});
  CHECK(told["slow"] == "segments > 1");
  std::size_t found = 0;
  for (const char* const dir : {"D", "U"})
    for (const json& trait : told.value(dir, json::object()).value("traits", json::array())) {
      if (trait["where"].is_null()) continue;
      const std::string where =
          std::string("dir == ") + dir + " && " + trait["where"].get<std::string>();
      page.answer({{"call", "journeys"}, {"where", where}});
      const auto& latencies = page.columns.doubles["latency"];
      const auto timed =
          std::ranges::count_if(latencies, [](double ns) { return !std::isnan(ns); });
      INFO(where);
      CHECK(static_cast<std::uint64_t>(timed) == trait["packets"]);
      ++found;
    }
  CHECK(found > 3);
}

TEST_CASE("the time line counts every event of the target once") {
  RadioPage page;
  const json shown = page.answer({{"call", "timeline"}});
  double sum = 0;
  for (const double number : page.columns.doubles["number"]) sum += number;
  std::uint64_t listed = 0;
  for (const json& thread : shown["threads"]) listed += thread["events"].get<std::uint64_t>();
  CHECK(sum == static_cast<double>(listed));
  CHECK(listed == page.answer({{"call", "events"}})["events"].size());
}

TEST_CASE("what was measured of the machine comes as the text that the trace has") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("measured.sjt");
  const std::string measured = R"({"measurements": [{"id": "clocks.tsc", "unit": "ns"}]})";
  auto writer = files::create_trace(path);
  REQUIRE(writer);
  model::Schema schema;
  schema.points.resize(1);
  schema.points[0].src = "ip.in";
  schema.points[0].dest = "pdcp.in";
  REQUIRE(writer->write(schema));
  REQUIRE(writer->write(model::Target()));
  REQUIRE(writer->write(model::Host{.name = "here",
                                    .kernel = "6.1.0",
                                    .machine = "x86_64",
                                    .cpu_model = "A CPU",
                                    .cpus = 2,
                                    .measured = measured}));
  REQUIRE(writer->finish());
  auto source = files::open_source(path);
  REQUIRE(source);
  auto engine = PageEngine::open(std::move(*source));
  REQUIRE(engine);
  Columns none;
  const auto text = engine->answer(R"({"call": "machine"})", none);
  REQUIRE(text);
  CHECK(json::parse(*text) == json{{"name", "here"},
                                   {"kernel", "6.1.0"},
                                   {"machine", "x86_64"},
                                   {"cpu_model", "A CPU"},
                                   {"cpus", 2},
                                   {"measured", measured}});
  CHECK(RadioPage().answer({{"call", "machine"}})["measured"] == "");
}

TEST_CASE("what is no question, and a filter that is refused, are errors in words") {
  RadioPage page;
  CHECK(page.ask("report").error().text() == "a question is a JSON object with the name of a call");
  CHECK(page.ask({{"call", "dance"}}).error().text() == "no call is named dance");
  CHECK(page.ask({{"call", "packet"}, {"id", 999999}}).error().text() ==
        "no journey has the number 999999");
  CHECK(page.ask({{"call", "report"}, {"where", "nobody == 5"}}).error().text().find("nobody") !=
        std::string::npos);
  CHECK(page.answer({{"call", "report"}, {"where", 5}})["journeys"]["D"]["count"] > 0);
}

}  // namespace
}  // namespace sojourn::page
