// `sojourn queues` on a trace without samples.
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

TEST_CASE("places in flight are queues where nothing was sampled") {
  const Traces traces;
  compare("queues.txt", output_of({"queues", traces.path("radio"), "--topology", "--depths"}));
}

TEST_CASE("depths, waits and rates of places agree with the report and with each other") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json queues = json::parse(output_of({"queues", trace, "--json", "--depths"}));
  const json report = json::parse(output_of({"report", trace, "--json"}));
  REQUIRE_FALSE(queues["places"].empty());
  CHECK(queues["queues"].empty());
  for (const json& place : queues["places"]) {
    CAPTURE(place["at"]);
    std::uint64_t total_ns = 0;
    std::uint64_t weighted = 0;
    for (const json& level : place["depths"]) {
      total_ns += level["ns"].get<std::uint64_t>();
      weighted += level["ns"].get<std::uint64_t>() * level["depth"].get<std::uint64_t>();
    }
    CHECK(std::abs(place["depth"]["mean"].get<double>() -
                   static_cast<double>(weighted) / static_cast<double>(total_ns)) < 1e-6);
    double sum = 0;
    const json& over_time = place["over_time"];
    const auto step_ns = over_time["step_ns"].get<std::uint64_t>();
    for (std::size_t at = 0; at < over_time["mean"].size(); ++at)  // the last may be shorter
      sum += over_time["mean"][at].get<double>() *
             static_cast<double>(std::min(step_ns, total_ns - at * step_ns));
    CHECK(std::abs(sum - static_cast<double>(weighted)) < 1);
    bool is_there = false;
    for (const json& known : report["queues"]) {
      if (known["name"] != place["at"] || known["dir"] != place["dir"]) continue;
      is_there = true;
      CHECK(known["max"] == place["high_water"]["depth"]);
      CHECK(std::abs(known["mean"].get<double>() - place["depth"]["mean"].get<double>()) < 1e-6);
    }
    CHECK(is_there);
    CHECK(place["in"].get<std::uint64_t>() >=
          place["out"].get<std::uint64_t>() + place["inside"].get<std::uint64_t>());
  }
}

TEST_CASE("the items of the parts that a filter makes add up to all items") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto places = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"queues", trace, "--json"});
    const json document = json::parse(output_of(std::move(more)));
    std::map<std::string, json> all;
    for (const json& place : document["places"])
      all[place["dir"].get<std::string>() + place["at"].get<std::string>()] = place;
    return all;
  };
  const auto all = places({});
  const auto none_but = places({"--where", "dir in {D, U}"});
  const auto odd = places({"--where", "tid % 2 == 1"});
  const auto even = places({"--where", "tid % 2 == 0"});
  REQUIRE_FALSE(odd.empty());
  REQUIRE_FALSE(even.empty());
  for (const auto& [name, place] : all) {
    CAPTURE(name);
    const auto sum = [&](const char* count, const char* of) {
      const auto one = [&](const auto& part) {
        const auto found = part.find(name);
        if (found == part.end()) return 0.0;
        const json& value = *of != 0 ? found->second[of][count] : found->second[count];
        return value.template get<double>();
      };
      return one(odd) + one(even);
    };
    CHECK(sum("in", "") == place["in"]);
    CHECK(sum("out", "") == place["out"]);
    CHECK(sum("count", "wait_ns") == place["wait_ns"]["count"]);
    CHECK(std::abs(sum("mean", "depth") - place["depth"]["mean"].get<double>()) < 1e-6);
    CHECK(none_but.at(name) == place);
  }
}

TEST_CASE(
    "a filter by time selects the items that entered then, and rates are per second of that time") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json document = json::parse(
      output_of({"queues", trace, "--json", "--where", "time in 100us..200us && dir == D"}));
  CHECK(document["where"] == "time in 100us..200us && dir == D");
  CHECK(document["pressure"].empty());
  REQUIRE_FALSE(document["places"].empty());
  for (const json& place : document["places"]) {
    CHECK(place["dir"] == "D");
    CHECK(std::abs(place["arrivals_per_s"].get<double>() * 100e-6 - place["in"].get<double>()) <
          0.01);
  }
  CHECK(output_of({"queues", trace, "--where", "dir == D"})
            .starts_with("only what came where dir == D: depths, rates and waits are of that\n"));
  require_error(sojourn({"queues", trace, "--where", "dir == D && dir == U"}),
                "no item came to a queue where dir == D && dir == U");
  CHECK(sojourn({"queues", trace, "--where", "latency > 5ms"}).exit_code == 1);
  CHECK(sojourn({"queues", trace, "--where", "dir = D"}).exit_code == 2);
  CHECK(sojourn({"queues", trace, "--where", "dir == D", "--verify"}).exit_code == 2);
}

TEST_CASE("each stay of those that a filter means is a line") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto lines = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"queues", trace, "--items"});
    const std::string text = output_of(std::move(more));
    return std::ranges::count(text, '\n');
  };
  const auto down = lines({"--where", "dir == D"});
  const auto up = lines({"--where", "dir == U"});
  CHECK(down > 0);
  CHECK(up > 0);
  CHECK(down + up == lines({}));
}

TEST_CASE("data that a trace lacks are named in one line") {
  const Traces traces;
  require_error(sojourn({"queues", traces.path("radio"), "--verify"}), "nothing to compare");
  CHECK(sojourn({"queues", traces.path("radio"), "--items", "--verify"}).exit_code == 2);
}

TEST_CASE("each stay is a line") {
  const Traces traces;
  std::istringstream lines(output_of({"queues", traces.path("radio"), "--items"}));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(line.contains(" from thread "));
  CHECK(count > 100);
}

TEST_CASE("a graph of places is one that can be read") {
  const Traces traces;
  const std::string dot = output_of({"queues", traces.path("radio"), "--dot"});
  CHECK(dot.starts_with("digraph queues {\n"));
  CHECK(dot.ends_with("}\n"));
  CHECK(dot.contains("label=\"U phy.in.proc ("));
  CHECK(sojourn({"queues", traces.path("radio"), "--dot", "--json"}).exit_code == 2);
}

// Returns the lines of a command whose standard output is a terminal.
std::vector<std::string> on_a_terminal(const std::string& arguments, int columns = 100) {
  const test::Ended ended = test::run(
      {"script", "-qec",
       "stty cols " + std::to_string(columns) + "; '" SJ_SOJOURN "' " + arguments + " 2>/dev/null",
       "/dev/null"});
  REQUIRE(ended.exit_code == 0);
  std::vector<std::string> result;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);)
    result.push_back(line.substr(0, line.find('\r')));
  return result;
}

TEST_CASE("tables fit a terminal, and name the columns left out; pipes get them whole") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  for (const std::string command : {"queues", "report", "explain"}) {
    CAPTURE(command);
    const auto lines = on_a_terminal(command + " '" + trace + "'");
    CHECK(lines.size() > 5);
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(line.size() <= 100);
    }
  }
  const auto lines = on_a_terminal("queues '" + trace + "'");
  CHECK(std::ranges::find(lines, "`| less -S` also shows: out/s, empty, Little, p50 of depth") !=
        lines.end());
  CHECK_FALSE(output_of({"queues", trace}).contains("less -S"));
}

TEST_CASE("sentences of a report and of a comparison are wrapped at the terminal's width") {
  const Traces traces;
  const std::string trace = "'" + traces.path("traced") + "'";
  for (const std::string begin : {"times are without ", "compared are ", "D: "}) {
    const auto lines = on_a_terminal(
        begin.starts_with("times") ? "report " + trace : "diff " + trace + " --against " + trace,
        80);
    const auto sentence = std::ranges::find_if(
        lines, [&](const std::string& line) { return line.starts_with(begin); });
    CAPTURE(begin);
    REQUIRE(sentence != lines.end());
    CHECK(sentence->size() <= 80);
  }
}

TEST_CASE("the first tables of a report fit a terminal of 80 columns") {
  const Traces traces;
  std::size_t rows = 0;
  for (const std::string& line : on_a_terminal("report '" + traces.path("radio") + "'", 80)) {
    const bool is_row = line.starts_with("latency ") || line.starts_with("journeys ") ||
                        line.starts_with("where ") || line.starts_with("D ") ||
                        line.starts_with("U ") || line.starts_with("  rlc.");
    rows += is_row ? 1 : 0;
    CAPTURE(line);
    CHECK((!is_row || line.size() <= 80));
  }
  CHECK(rows > 8);
}

}  // namespace
}  // namespace sojourn::cli_tests
