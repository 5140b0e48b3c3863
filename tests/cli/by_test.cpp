// report --by and --deadline.
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

TEST_CASE("figures of each bearer are told as a text") {
  const Traces traces;
  compare("radio.bearers.txt",
          output_of({"report", traces.path("radio"), "--by", "bearer", "--deadline", "100us"}));
}

TEST_CASE("whatever packets are told apart by, none is lost or told twice") {
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

TEST_CASE("packets are late by what their journeys say") {
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

TEST_CASE("figures of some packets only are of those") {
  const Traces traces;
  const json told = json::parse(
      output_of({"report", traces.path("radio"), "--by", "ue", "--json", "--where", "dir == U"}));
  REQUIRE_FALSE(told["groups"].empty());
  for (const json& group : told["groups"]) CHECK(group["dir"] == "U");
}

TEST_CASE("what does not go together with --by and --deadline is wrong usage") {
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
  refused({"--by", "point", "--where", "dir == U"}, "counts events");
  refused({"--by", "thread", "--deadline", "4ms"}, "counts events");
  refused({"--by", "ue", "--paste"}, "report of its own");
  refused({"--deadline", "soon"}, "--deadline: \"soon\" is not a duration");
  refused({"--deadline", "0ms"}, "is not a duration");
  refused({"--deadline", "4"}, "--deadline: \"4\" needs a unit, e.g. 4ms");
  refused({"--deadline", ""}, "--deadline: \"\" is not a duration");
  refused({"--deadline", "slot", "--slot", "500"}, "--slot: \"500\" needs a unit");
  refused({"--compat", "latseq", "--deadline", "4ms"}, "--compat latseq has no");
}

}  // namespace
}  // namespace sojourn::cli_tests
