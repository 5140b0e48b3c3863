// report --by and --deadline.
#include <map>
#include <string>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

TEST_CASE("the figures of each bearer are printed as text") {
  const Traces traces;
  compare("radio.bearers.txt",
          output_of({"report", traces.path("radio"), "--by", "bearer", "--deadline", "100us"}));
}

TEST_CASE("every grouping has each packet exactly once") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json whole = json::parse(output_of({"report", trace, "--json"}));
  for (const std::string by : {"ue", "bearer", "path"}) {
    CAPTURE(by);
    const json told = json::parse(output_of({"report", trace, "--by", by, "--json"}));
    CHECK(told["by"] == by);
    json sums = {{"D", 0}, {"U", 0}};
    for (const json& group : told["groups"])
      sums[group["dir"].get<std::string>()] =
          sums[group["dir"].get<std::string>()].get<int>() + group["count"].get<int>();
    CHECK(sums["D"] == whole["journeys"]["D"]["complete"]);
    CHECK(sums["U"] == whole["journeys"]["U"]["complete"]);
    CHECK(told["groups"].size() >= 2);
  }
  for (const std::string by : {"point", "thread"}) {
    CAPTURE(by);
    const json told = json::parse(output_of({"report", trace, "--by", by, "--json"}));
    int sum = 0;
    for (const json& group : told["groups"]) sum += group["count"].get<int>();
    CHECK(sum == whole["events"].get<int>());
  }
  const json told = json::parse(output_of({"report", trace, "--by", "hop", "--json"}));
  int stays = 0;
  for (const json& hop : whole["hops"]) stays += hop["count"].get<int>();
  int sum = 0;
  for (const json& group : told["groups"]) sum += group["count"].get<int>();
  CHECK(sum == stays);
}

TEST_CASE("packets are late by the times of their journeys") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  int late = 0;
  std::string lines = output_of({"journeys", trace, "--json"});
  for (std::size_t begin = 0, end = 0; (end = lines.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const json journey = json::parse(lines.substr(begin, end - begin));
    if (journey["complete"] == true && journey["dir"] == "D" && journey["latency_ns"] > 100'000)
      ++late;
  }
  REQUIRE(late > 0);
  const json told = json::parse(output_of({"report", trace, "--deadline", "100us", "--json"}));
  CHECK(told["deadline"]["D"]["late"] == late);
  CHECK(told["deadline"]["D"]["of"] == told["journeys"]["D"]["complete"]);
  CHECK(output_of({"report", trace, "--deadline", "100us"}).contains("longer than 100 us"));
  CHECK_FALSE(output_of({"report", trace}).contains("longer than"));
}

TEST_CASE("figures of some packets cover only those packets") {
  const Traces traces;
  const json told = json::parse(
      output_of({"report", traces.path("radio"), "--by", "ue", "--json", "--where", "dir == U"}));
  REQUIRE_FALSE(told["groups"].empty());
  for (const json& group : told["groups"]) CHECK(group["dir"] == "U");
}

TEST_CASE("with --by point or thread, --where counts the events for which it is true") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string where = "dir == U && len > 100";
  const std::string lines = output_of({"events", trace, "--json", "--where", where});
  std::map<std::string, int> hits;
  std::map<std::string, double> bytes;
  int events = 0;
  for (std::size_t begin = 0, end = 0; (end = lines.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const json event = json::parse(lines.substr(begin, end - begin));
    ++events;
    ++hits[event["point"]];
    bytes[event["point"]] += event["fields"]["len"].get<double>();
  }
  REQUIRE(hits.size() > 1);
  const json all = json::parse(output_of({"report", trace, "--json"}));
  const json told =
      json::parse(output_of({"report", trace, "--by", "point", "--json", "--where", where}));
  CHECK(told["where"] == json{{"expression", where}, {"events", events}, {"of", all["events"]}});
  REQUIRE(told["groups"].size() == hits.size());
  const double seconds = told["duration_s"];
  for (const json& group : told["groups"]) {
    const std::string point = group["name"];
    CAPTURE(point);
    CHECK(group["dir"] == "U");
    CHECK(group["count"] == hits[point]);
    CHECK(group["bits_a_second"].get<double>() == Catch::Approx(bytes[point] * 8 / seconds));
  }
  const json threads =
      json::parse(output_of({"report", trace, "--by", "thread", "--json", "--where", where}));
  int sum = 0;
  for (const json& group : threads["groups"]) sum += group["count"].get<int>();
  CHECK(sum == events);
  const std::string none =
      output_of({"report", trace, "--by", "point", "--where", "len > 1000000"});
  CHECK(none.starts_with("only the 0 of "));
  CHECK(none.contains("nothing to group"));
  const test::Ended refused =
      sojourn({"report", trace, "--by", "thread", "--where", "latency > 1ms"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.contains("latency is known of whole journeys"));
}

TEST_CASE("rates are per second of the selected time") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json all = json::parse(output_of({"report", trace, "--by", "direction", "--json"}));
  const double whole_s = all["duration_s"];
  for (const std::string by : {"direction", "point"}) {
    CAPTURE(by);
    const auto told = [&](const std::string& where) {
      return json::parse(output_of({"report", trace, "--by", by, "--json", "--where", where}));
    };
    const auto half_ns = static_cast<std::uint64_t>(whole_s * 1e9 / 2);
    const json early = told(fmt::format("time < {}ns && dir == U", half_ns));
    const double half_s = early["duration_s"];
    CHECK(half_s == Catch::Approx(whole_s / 2));
    REQUIRE_FALSE(early["groups"].empty());
    for (const json& group : early["groups"]) {
      CHECK(group["dir"] == "U");
      CHECK(group["a_second"].get<double>() ==
            Catch::Approx(group["count"].get<double>() / half_s));
    }
    CHECK(told("time in 1us..2us")["duration_s"].get<double>() == Catch::Approx(1.001e-6));
    // A condition that need not hold does not limit the time.
    CHECK(told("time < 2us || dir == U")["duration_s"] == whole_s);
    CHECK(told("time < 100s")["duration_s"] == whole_s);
  }
}

TEST_CASE("options that contradict --by and --deadline are wrong usage") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin(), {"report", trace});
    const test::Ended ended = sojourn(arguments);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    CAPTURE(ended.err);
    CHECK(ended.err.contains(words));
  };
  refused({"--by", "colour"}, "--by");
  refused({"--costs", "--where", "dir == U"}, "--costs counts all hits");
  refused({"--by", "thread", "--deadline", "4ms"}, "counts events");
  refused({"--by", "ue", "--paste"}, "report of its own");
  refused({"--deadline", "soon"}, "--deadline: \"soon\" is not a time");
  refused({"--deadline", "0ms"}, "a time above 0 is wanted");
  refused({"--deadline", "4"}, "--deadline: \"4\": a time wants a unit: 4s, 4ms, 4us");
  refused({"--deadline", ""}, "--deadline: \"\" is not a time");
  refused({"--deadline", "slot", "--slot", "500"},
          "--slot: \"500\": a time wants a unit: 500s, 500ms, 500us");
  refused({"--compat", "latseq", "--deadline", "4ms"}, "--compat latseq has no");
}

}  // namespace
}  // namespace sojourn::cli_tests
