// The tables of `sojourn export`, read back as text by Python's own reader, and compared with the
// output of the other commands for the same trace.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/exports/hostile_trace.h"
#include "tests/unit/exports/hostile_names.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) rows.push_back(json::parse(line));
  return rows;
}

std::vector<json> table(const std::string& trace, const std::string& what,
                        std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"export", trace, "--to", "jsonl", "--what", what});
  return lines_of(output_of(std::move(more)));
}

// The rows of a CSV file as Python reads them: an object a row, all values texts.
std::vector<json> read_by_python(const std::string& path) {
  const test::Ended ended = test::run(
      {"python3", "-c",
       "import csv, json, sys\n"
       "csv.field_size_limit(1 << 20)\n"
       "for row in csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True):\n"
       "  print(json.dumps(row))\n",
       path});
  REQUIRE(ended.err.empty());
  return lines_of(ended.out);
}

std::string as_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void require_same_as_csv(const Traces& traces, const std::string& trace, const std::string& what) {
  const std::string file = traces.directory().path(what + ".csv");
  CHECK(output_of({"export", trace, "--to", "csv", "--what", what, "-o", file}).empty());
  const auto read = read_by_python(file);
  const auto rows = table(trace, what);
  REQUIRE(read.size() == rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at)
    for (const auto& [name, text] : read[at].items()) {
      CAPTURE(what, at, name);
      CHECK(text == (rows[at].contains(name) ? as_text(rows[at][name]) : std::string()));
    }
}

TEST_CASE("each table is the same as comma-separated values and as JSON lines") {
  const Traces traces;
  for (const std::string what : {"journeys", "hops", "events", "in-flight", "causes"})
    require_same_as_csv(traces, traces.path(what == "causes" ? "radio" : "lossy"), what);
}

TEST_CASE("the table of journeys agrees with `journeys --json`") {
  const Traces traces;
  const std::string trace = traces.path(GENERATE("radio", "lossy"));
  const auto rows = table(trace, "journeys");
  const auto journeys = lines_of(output_of({"journeys", trace, "--json"}));
  REQUIRE(rows.size() == journeys.size());
  REQUIRE_FALSE(rows.empty());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const json& row = rows[at];
    const json& journey = journeys[at];
    CHECK(row["journey"] == journey["id"]);
    for (const char* same : {"dir", "outcome", "start_ns", "end_ns", "headless", "ambiguous",
                             "segments", "retransmissions", "harq_retransmissions", "drops"})
      CHECK(row[same] == journey[same]);
    CHECK(row["events"] == journey["events"].size());
    const bool has_latency = journey["complete"] && !journey["at_one_point"];
    CHECK(row.contains("latency_ns") == has_latency);
    if (has_latency) CHECK(row["latency_ns"] == journey["latency_ns"]);
    for (const auto& [name, value] : journey["ids"].items())
      if (value.is_number() && !journey.contains("known_ids")) CHECK(row["id_" + name] == value);
  }
}

// A stay: both the table and the journeys list it.
using Stay = std::tuple<std::uint64_t, std::string, std::string, std::uint64_t>;

TEST_CASE("the table of hops has each step of each journey from each of its parents") {
  const Traces traces;
  const std::string trace = traces.path(GENERATE("radio", "lossy"));
  std::multiset<Stay> expected;
  std::size_t inside = 0;
  for (const json& journey : lines_of(output_of({"journeys", trace, "--json"})))
    for (const json& event : journey["events"]) {
      inside += event.contains("inside_ns") ? 1 : 0;
      if (event.contains("repeat_of")) continue;
      for (const std::size_t parent : event["parents"])
        expected.emplace(journey["id"], journey["events"][parent]["point"], event["point"],
                         event["t_ns"]);
    }
  std::multiset<Stay> found;
  for (const json& row : table(trace, "hops")) {
    CHECK(row["stay_ns"].get<std::uint64_t>() > 0);
    if (row["inside"]) {
      --inside;
      CHECK_FALSE(row.contains("left_ns"));
      continue;
    }
    CHECK(row["left_ns"].get<std::uint64_t>() - row["entered_ns"].get<std::uint64_t>() ==
          row["stay_ns"]);
    found.emplace(row["journey"], row["from_point"], row["to_point"], row["left_ns"]);
  }
  CHECK(found == expected);
  CHECK(inside == 0);
  CHECK_FALSE(found.empty());
}

TEST_CASE("the table of events has each event with its values, and a filter chooses") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto events = lines_of(output_of({"events", trace, "--json", "--time", "mono"}));
  const auto rows = table(trace, "events");
  REQUIRE(rows.size() == events.size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    for (const char* same : {"t_ns", "dir", "point", "src", "tid", "stream", "seq", "cpu"})
      CHECK(rows[at][same] == events[at][same]);
    for (const auto& [name, value] : events[at]["fields"].items())
      CHECK(rows[at]["field_" + name] == value);
    CHECK(rows[at]["pid"] == 4242);
  }
  const auto chosen = table(trace, "events", {"--where", "dir == U && rnti == 1"});
  CHECK(chosen.size() < rows.size());
  REQUIRE_FALSE(chosen.empty());
  CHECK(std::ranges::all_of(
      chosen, [](const json& row) { return row["dir"] == "U" && row["field_rnti"] == 1; }));
}

TEST_CASE("the table of units in flight rises and falls to the maximum that the report shows") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  std::map<std::string, std::uint64_t> most;
  std::uint64_t last_ns = 0;
  for (const json& row : table(trace, "in-flight")) {
    CHECK(row["t_ns"].get<std::uint64_t>() >= last_ns);
    last_ns = row["t_ns"];
    auto& seen = most[row["dir"].get<std::string>() + row["place"].get<std::string>()];
    seen = std::max(seen, row["depth"].get<std::uint64_t>());
  }
  const json report = json::parse(output_of({"report", trace, "--json"}));
  REQUIRE_FALSE(report["queues"].empty());
  for (const json& queue : report["queues"])
    CHECK(most[queue["dir"].get<std::string>() + queue["name"].get<std::string>()] == queue["max"]);
}

TEST_CASE("the causes of each late packet add up to its latency") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> sums;
  for (const json& row : table(trace, "causes", {"--deadline", "1us"})) {
    auto& [sum, latency] = sums[row["journey"]];
    sum += row["ns"].get<std::uint64_t>();
    latency = row["latency_ns"];
  }
  REQUIRE_FALSE(sums.empty());
  for (const auto& [journey, sum] : sums) CHECK(sum.first == sum.second);
  const json explained = json::parse(output_of({"explain", trace, "--json", "--deadline", "1us"}));
  CHECK(sums.size() == explained["late"]);
}

TEST_CASE("a trace without samples of queues says why their table is empty") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const test::Ended ended = sojourn({"export", trace, "--to", "csv", "--what", "queues"});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(std::ranges::count(ended.out, '\n') == 1);
  CHECK(ended.err == trace + ": no queue was sampled: `sojourn record --queues` does\n");
}

TEST_CASE("rows with odd names of threads and queues are read back with their own names") {
  const Traces traces;
  const std::string trace = traces.directory().path("hostile.sjt");
  REQUIRE(exports::write_hostile_trace(trace).has_value());
  const auto samples = table(trace, "queues");
  REQUIRE(samples.size() == exports::hostile_names().size());
  for (std::size_t at = 0; at < samples.size(); ++at) {
    CHECK(samples[at]["queue_id"] == at + 1);
    CHECK(samples[at]["depth"] == at + 1);
    CHECK_FALSE(samples[at]["queue"].get<std::string>().empty());
  }
  CHECK(samples.back()["queue"] == exports::hostile_names().back());
  CHECK(samples.front()["queue"] == exports::hostile_names().front());
  require_same_as_csv(traces, trace, "queues");
  require_same_as_csv(traces, trace, "events");
}

TEST_CASE("graphs are those that the commands print") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  CHECK(output_of({"export", trace, "--to", "dot"}) == output_of({"queues", trace, "--dot"}));
  CHECK(output_of({"export", trace, "--to", "dot", "--what", "flow"}) ==
        output_of({"flow", trace, "--dot"}));
  CHECK(output_of({"export", trace, "--to", "svg"}) == output_of({"queues", trace, "--svg"}));
  const std::string picture = output_of({"flow", trace, "--svg"});
  CHECK(picture.starts_with("<svg "));
  CHECK(output_of({"export", trace, "--to", "svg", "--what", "flow"}) == picture);
  for (const char* const other : {"--dot", "--json"})
    for (const char* const command : {"flow", "queues"})
      CHECK(sojourn({command, trace, "--svg", other}).exit_code == 2);
}

TEST_CASE("an option that a table has no use for is refused") {
  const Traces traces;
  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"export", traces.path("radio")});
    const test::Ended ended = sojourn(std::move(more));
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    return ended.err;
  };
  CHECK(refusal({"--to", "csv", "--what", "in-flight", "--where", "dir == D"}) ==
        "sojourn: --to csv --what in-flight has no --where\n");
  CHECK(refusal({"--to", "csv", "--deadline", "1ms"}) ==
        "sojourn: --to csv --what journeys has no --deadline\n");
  CHECK(refusal({"--to", "jsonl", "--what", "stats"}) ==
        "sojourn: --to jsonl has no \"stats\": it has journeys, hops, events, queues, in-flight, "
        "causes\n");
  CHECK(refusal({"--to", "csv", "--what", "nonsense"}) ==
        "sojourn: --to csv has no \"nonsense\": it has journeys, hops, events, queues, in-flight, "
        "causes\n");
  CHECK(refusal({"--to", "lseq", "--what", "events"}) ==
        "sojourn: --to lseq is written whole: it has no --what\n");
}

}  // namespace
}  // namespace sojourn::cli_tests
