// --where: the filter language on the command line.
#include <algorithm>
#include <sstream>
#include <string_view>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/golden/fixture.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  return objects;
}

void require_refusal(const test::Ended& ended, const std::string& words) {
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err == words);
}

TEST_CASE("events are those for which the expression is true, also beside the other options") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto all = json_lines(output_of({"events", trace, "--json"}));
  const auto where = [&](const std::string& expression, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"events", trace, "--json", "--where", expression});
    return json_lines(output_of(std::move(more)));
  };
  const auto only = [&](auto wanted) {
    std::vector<json> kept;
    std::ranges::copy_if(all, std::back_inserter(kept), wanted);
    return kept;
  };
  const auto uplink = only([](const json& event) { return event["dir"] == "U"; });
  REQUIRE_FALSE(uplink.empty());
  REQUIRE(uplink.size() < all.size());
  CHECK(where("dir == U") == uplink);
  CHECK(where("point ~ *", {"--points", "U *"}) == uplink);
  const auto first = all.front()["t_ns"].get<std::uint64_t>();
  CHECK(where(fmt::format("time <= {}ns", first)) ==
        only([&](const json& event) { return event["t_ns"] <= first; }));
  const auto long_ones = only([](const json& event) {
    return event["fields"].contains("len") && event["fields"]["len"] > 500;
  });
  REQUIRE_FALSE(long_ones.empty());
  CHECK(where("len > 0.5k") == long_ones);
  CHECK(where("len > 500", {"--limit", "1"}).size() == 1);
}

TEST_CASE("journeys come whole or not at all") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto all = json_lines(output_of({"journeys", trace, "--json"}));
  const auto median = [&] {
    std::vector<std::uint64_t> latencies;
    for (const json& journey : all) latencies.push_back(journey["latency_ns"]);
    std::ranges::sort(latencies);
    return latencies[latencies.size() / 2];
  }();
  const auto slow = json_lines(
      output_of({"journeys", trace, "--json", "--where", fmt::format("latency >= {}ns", median)}));
  std::vector<json> expected;
  std::ranges::copy_if(all, std::back_inserter(expected),
                       [&](const json& journey) { return journey["latency_ns"] >= median; });
  CHECK(slow == expected);
  REQUIRE(slow.size() < all.size());
}

TEST_CASE("a report of some journeys says of which, and counts those only") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto report = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"report", trace, "--json"});
    return json::parse(output_of(std::move(options)));
  };
  const auto all = report({});
  const auto complete = report({"--where", "complete && dir == D"});
  CHECK(complete["journeys"]["D"]["complete"] == all["journeys"]["D"]["complete"]);
  CHECK(complete["journeys"]["D"]["count"] == complete["journeys"]["D"]["complete"]);
  CHECK(complete["journeys"]["D"]["latency_us"] == all["journeys"]["D"]["latency_us"]);
  CHECK(complete["where"]["expression"] == "complete && dir == D");
  CHECK(complete["where"]["journeys"] == complete["journeys"]["D"]["count"]);
  CHECK(output_of({"report", trace, "--where", "complete && dir == D"})
            .contains(" journeys where complete && dir == D\n"));
  // Figures of the selected packets exist; the number of units in a place at once is unknown.
  const auto of_place = [](const json& told, const json& place) {
    for (const json& one : told["queues"])
      if (one["name"] == place["name"] && one["dir"] == place["dir"]) return one;
    return json();
  };
  double decisive_us = 0;
  for (const json& place : all["queues"]) {
    if (place["dir"] != "D" || place["decisive_us"] == 0) continue;
    CAPTURE(place["name"]);
    const json selected = of_place(complete, place);
    CHECK(selected["decisive_us"] == place["decisive_us"]);
    CHECK(selected["max"].is_null());
    decisive_us += place["decisive_us"].get<double>();
  }
  CHECK(decisive_us > 0);
  const auto none = report({"--where", "latency > 1000s"});
  CHECK(none["queues"].empty());
  CHECK(none["where"]["journeys"] == 0);
  CHECK(none["hops"].empty());
}

TEST_CASE("an export has the selected events or journeys only") {
  const test::TemporaryDirectory directory;
  const std::string recorded = directory.path("some.lseq");
  const std::string trace = directory.path("some.sjt");
  test::write_contents(recorded,
                       "1500000000.000001 D ip.in--rlc.tx len10:rnti1:sn1\n"
                       "1500000000.000002 U phy.in--rlc.rx len20:rnti1:sn1\n"
                       "1500000000.000003 D rlc.tx--phy.out len10:rnti1:sn1\n"
                       "1500000000.000004 U rlc.rx--ip.out len20:rnti1:sn1\n");
  REQUIRE(sojourn({"import", recorded, "-o", trace}).exit_code == 0);
  const auto lines = [](const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (!line.starts_with('#')) all.push_back(line);
    return all;
  };
  const auto exported = [&](const std::string& to, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"export", trace, "--to", to});
    return lines(output_of(std::move(more)));
  };
  std::vector<std::string> uplink = exported("lseq");
  std::erase_if(uplink, [](const std::string& line) { return !line.contains(" U "); });
  REQUIRE_FALSE(uplink.empty());
  CHECK(exported("lseq", {"--where", "dir == U"}) == uplink);

  const auto all = exported("latseq-json");
  const auto some = exported("latseq-json", {"--where", "dir == U"});
  REQUIRE_FALSE(some.empty());
  CHECK(some.size() < all.size());
  for (const std::string& line : some) CHECK(json::parse(line)["dir"] == 1);
  CHECK(static_cast<std::size_t>(std::ranges::count_if(all, [](const std::string& line) {
          return json::parse(line)["dir"] == 1;
        })) == some.size());
  const auto refused = sojourn(
      {"export", trace, "--to", "latseq-json", "--compat", "latseq", "--where", "dir == U"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.contains("--compat latseq has no --where"));
}

// Two packets, each from `ul rx` to `mac`, the second by another receiver; `mac` writes a ring.
constexpr const char* kTwoPackets =
    "target t 1\ncapture 1000 9000 0 0\nthread 11 ul rx\nthread 12 mac\nring 1\n"
    "point D in--rlc len:sn\npoint D rlc--out len:sn\n"
    "2000 0 11 D in--rlc 100 1\n2500 1 12 D rlc--out 100 1\n"
    "3000 0 13 D in--rlc 100 2\n3500 1 12 D rlc--out 100 2\n";

std::string trace_of(const test::TemporaryDirectory& directory, const std::string& fixture) {
  test::write_contents(directory.path("made.events"), fixture);
  REQUIRE(golden::write_trace(directory.path("made.events"), directory.path("made.sjt")));
  return directory.path("made.sjt");
}

TEST_CASE("threads are chosen by their names") {
  const test::TemporaryDirectory directory;
  const std::string trace = trace_of(directory, kTwoPackets);
  const auto count = [&](const char* command, const char* expression) {
    return json_lines(output_of({command, trace, "--json", "--where", expression})).size();
  };
  CHECK(count("events", "thread == mac") == 2);
  CHECK(count("events", "thread in {'ul rx', 13}") == 2);
  CHECK(count("events", "thread != mac") == 1);
  CHECK(count("journeys", "thread ~ ul*") == 1);
  CHECK(count("journeys", "thread == mac") == 2);
  require_refusal(sojourn({"events", trace, "--where", "thread == mca"}),
                  "sojourn: --where: column 11: no thread is called \"mca\": did you mean mac?\n"
                  "  thread == mca\n"
                  "            ^~~\n");
}

TEST_CASE("a CPU that is asked for and that rings do not know is not kept silent about") {
  const test::TemporaryDirectory directory;
  const std::string trace = trace_of(directory, kTwoPackets);
  const auto ended = sojourn({"events", trace, "--where", "cpu == 0 || cpu == 1"});
  CHECK(ended.exit_code == 0);
  CHECK(std::ranges::count(ended.out, '\n') == 2);
  CHECK(ended.err ==
        "--where: 2 of the target's 4 events do not say their CPU, as those of rings: no "
        "comparison with cpu is true of them\n");
  const Traces traces;
  CHECK_FALSE(output_of({"events", traces.path("radio"), "--where", "cpu == 0"}).empty());
}

TEST_CASE("an expression that is wrong by itself is wrong usage, with a caret under the cause") {
  for (const char* command :
       {"events", "journeys", "report", "explain", "queues", "threads", "profile"}) {
    const auto ended = sojourn({command, "none.sjt", "--where", "len = 5"});
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    CHECK(
        ended.err.contains("--where: column 5: a single '=' means nothing: write == to "
                           "compare\n  len = 5\n      ^\n"));
    for (const char* expression : {"rnti in 9..3", "len / 0 > 1", "5 == 5", "dir == X"}) {
      CAPTURE(command, expression);
      CHECK(sojourn({command, "none.sjt", "--where", expression}).exit_code == 2);
    }
  }
}

TEST_CASE("a filter of threads has only time, thread and cpu") {
  const Traces traces;
  for (const char* command : {"threads", "profile"}) {
    CAPTURE(command);
    const auto ended =
        sojourn({command, traces.path("radio"), "--where", "time < 1s && rnti == 5"});
    if (std::string_view(command) == "profile") {
      require_error(ended, "has no profile");
      continue;
    }
    require_refusal(
        ended,
        "sojourn: --where: column 14: rnti is not known in a filter of threads, which has time, "
        "thread, tid and cpu\n"
        "  time < 1s && rnti == 5\n"
        "               ^~~~\n");
  }
}

TEST_CASE("a name that the trace does not have fails, with a caret and the name that comes near") {
  const Traces traces;
  const auto ended = sojourn({"events", traces.path("radio"), "--where", "len > 1 && rnit == 5"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err ==
        "sojourn: --where: column 12: no point has a field \"rnit\": did you mean rnti?\n"
        "  len > 1 && rnit == 5\n"
        "             ^~~~\n");
  CHECK(sojourn({"events", traces.path("radio"), "--where", "latency > 5us"})
            .err.contains("latency is known of whole journeys"));
}

}  // namespace
}  // namespace sojourn::cli_tests
