// flow, diff and why-slow, on traces of made-up queues.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/unit/differential/queueing.h"

namespace sojourn::cli_tests {
namespace {

using Catch::Approx;
using nlohmann::json;

struct Made {
  std::uint64_t seed = 1;
  std::size_t packets = 3000;
  double load = 0.3;
  double extra_us = 0;      // at the second of three stages
  bool has_tap = false;     // a fourth point that the packets of one build have
  unsigned slow_ue_us = 0;  // additional time of one of four UEs' packets in the first stage
};

// A recording of LatSeq, imported: in > a > b > c > out.
std::string trace_of(const test::TemporaryDirectory& directory, const Made& made) {
  const auto queues = differential::make_queues(made.seed, made.packets, made.load, 3,
                                                made.extra_us > 0 ? 1 : SIZE_MAX, made.extra_us);
  std::vector<std::tuple<std::uint64_t, std::size_t, std::string>> lines;
  std::uint64_t now_us = 1'000'000;
  for (std::size_t packet = 0; packet < made.packets; ++packet) {
    now_us += 350;
    std::uint64_t at_us = now_us;
    const std::size_t ue = packet * 7 % 4;
    const auto add = [&](const char* point) {
      const std::uint64_t us = at_us;
      lines.emplace_back(us, lines.size(),
                         fmt::format("{}.{:06} D {} len100:rnti{}:sn{}\n", us / 1'000'000,
                                     us % 1'000'000, point, ue + 1, packet));
    };
    add("in--a");
    at_us += static_cast<std::uint64_t>(queues.stays[0][packet]) + (ue == 2 ? made.slow_ue_us : 0);
    add("a--b");
    at_us += static_cast<std::uint64_t>(queues.stays[1][packet]);
    add(made.has_tap ? "b--tap" : "b--c");
    if (made.has_tap) {
      at_us += 2;
      add("tap--c");
    }
    at_us += static_cast<std::uint64_t>(queues.stays[2][packet]);
    add("c--out");
  }
  std::ranges::sort(lines);
  std::string text;
  for (const auto& [us, order, line] : lines) text += line;
  static unsigned number = 0;
  const std::string name = directory.path(fmt::format("made-{}", ++number));
  test::write_contents(name + ".lseq", text);
  REQUIRE(sojourn({"import", name + ".lseq", "-o", name + ".sjt"}).exit_code == 0);
  return name + ".sjt";
}

const json& of_name(const json& all, const std::string& name) {
  const auto found =
      std::ranges::find_if(all, [&](const json& each) { return each["name"] == name; });
  REQUIRE(found != all.end());
  return *found;
}

const json& shift_of(const json& row, const std::string& figure) {
  const auto found =
      std::ranges::find_if(row["shifts"], [&](const json& each) { return each["of"] == figure; });
  REQUIRE(found != row["shifts"].end());
  return *found;
}

TEST_CASE("flow lists the edges with their evidence, and ranks the places") {
  const test::TemporaryDirectory directory;
  const std::string trace = trace_of(directory, {.extra_us = 80});
  const json told = json::parse(output_of({"flow", trace, "--json"}));
  const json& flow = told["flow"]["D"];
  CHECK(flow["packets"] == 3000);
  CHECK(flow["points"] == json::array({"in--a", "a--b", "b--c", "c--out"}));
  REQUIRE(flow["edges"].size() == 3);
  for (const json& edge : flow["edges"]) {
    CHECK(edge["by_ids"] == 3000);
    CHECK(edge["after"] == 0);
  }
  const json& ranking = told["segments"]["D"]["ranking"];
  REQUIRE(ranking.size() == 3);
  CHECK(ranking[0]["name"] == "b");
  double share = 0;
  for (const json& segment : ranking) share += segment["share"].get<double>();
  CHECK(share == Approx(1));
  CHECK(ranking[0]["spearman"]["low"] < ranking[0]["spearman"]["value"]);
  CHECK(ranking[0]["mean_if_median_us"] < told["segments"]["D"]["mean_us"]);

  const std::string text = output_of({"flow", trace});
  CHECK(text.starts_with("flow of D: 3,000 packets"));
  CHECK(text.contains("what decides the latency of D: 3,000 packets of 1 run, mean "));
  const std::string dot = output_of({"flow", trace, "--dot"});
  CHECK(dot.contains("\"D in--a\" -> \"D a--b\" [label=\"ids"));
  CHECK(dot.ends_with("}\n"));
}

TEST_CASE("flow shows which places differ from run to run") {
  const test::TemporaryDirectory directory;
  const std::string first = trace_of(directory, {.seed = 1});
  const std::string second = trace_of(directory, {.seed = 2});
  const std::string slow = trace_of(directory, {.seed = 3, .extra_us = 150});
  const json alike = json::parse(output_of({"flow", first, second, "--json"}));
  for (const json& each : alike["segments"]["D"]["ranking"]) CHECK(each["between_runs"] == "same");
  const json differ = json::parse(output_of({"flow", first, second, slow, "--json"}));
  const json& ranking = differ["segments"]["D"]["ranking"];
  CHECK(ranking[0]["name"] == "b");
  CHECK(ranking[0]["between_runs"] == "different");
  CHECK(of_name(ranking, "a")["between_runs"] == "same");

  // The second smallest p of three counts twice by Holm, and one and a half times by Benjamini and
  // Hochberg.
  const json shares =
      json::parse(output_of({"flow", first, second, slow, "--false-discovery", "--json"}));
  const json& by_share = shares["segments"]["D"]["ranking"];
  CHECK(of_name(by_share, "b")["between_runs"] == "different");
  std::vector<double> by_holm;
  std::vector<double> otherwise;
  for (const json& each : ranking) by_holm.push_back(each["p"].get<double>());
  for (const json& each : by_share) otherwise.push_back(each["p"].get<double>());
  std::ranges::sort(by_holm);
  std::ranges::sort(otherwise);
  REQUIRE(otherwise.size() == 3);
  CHECK(otherwise[0] <= by_holm[0]);
  CHECK(otherwise[1] < by_holm[1]);
  CHECK(otherwise[2] <= by_holm[2]);
}

TEST_CASE("two traces of one program are the same, and a slower stage is named") {
  const test::TemporaryDirectory directory;
  const std::string base = trace_of(directory, {.seed = 1});
  const std::string same = trace_of(directory, {.seed = 2});
  const std::string slow = trace_of(directory, {.seed = 3, .extra_us = 50});
  const json alike = json::parse(output_of({"diff", base, "--against", same, "--json"}));
  CHECK(alike["unit"] == "block");
  REQUIRE(alike["times"].size() == 4);
  for (const json& row : alike["times"]) {
    CAPTURE(row.dump());
    CHECK(row["verdict"] == "same");
    CHECK(row["effective"][0] <= row["count"][0]);
    CHECK(row["effective"][0] > 40);
  }
  CHECK(alike["flow"]["appeared"].empty());

  const json changed = json::parse(output_of({"diff", base, "--against", slow, "--json"}));
  const json& stage = of_name(changed["times"], "b");
  CHECK(stage["verdict"] == "changed");
  const json& mean = shift_of(stage, "mean");
  CHECK(mean["low_us"] > 0);
  CHECK(mean["by_us"] > 50);  // and what queues behind the sleep
  CHECK(of_name(changed["times"], "a")["verdict"] == "same");
  CHECK(of_name(changed["times"], "latency")["verdict"] == "changed");
  // The growth of a place over the growth of the latency.
  const auto growth = [&](const char* name) {
    const json& of = shift_of(of_name(changed["times"], name), "mean");
    return of["new_us"].get<double>() / of["base_us"].get<double>();
  };
  for (const char* place : {"a", "b", "c"})
    CHECK(of_name(changed["times"], place)["slowdown"].get<double>() ==
          Approx(growth(place) / growth("latency")));
  CHECK(stage["slowdown"] > 1);
  CHECK(of_name(changed["times"], "a")["slowdown"] < 1);
  CHECK_FALSE(of_name(changed["times"], "latency").contains("slowdown"));
  const std::string text = output_of({"diff", base, "--against", slow});
  CHECK(text.contains("slowdown"));
  CHECK(text.contains("base: 1 run, "));
  CHECK(text.contains("What differs between two runs of one build is not known"));
  CHECK(text.contains("D latency"));
  CHECK(text.contains("changed (p "));
  CHECK(text.contains("flow: the same edges"));
  CHECK(text.contains("tracing took: base not measured, new not measured"));
}

TEST_CASE("diff says how small a shift its traces cannot show") {
  const Traces traces;
  const auto resolution = [&](const std::string& trace) {
    const json told = json::parse(output_of({"diff", trace, "--against", trace, "--json"}));
    return of_name(told["times"], "latency")["resolution_us"].get<double>();
  };
  // A hit's spread of 25 ns, and 300 ns for colder caches; stamps without an error.
  CHECK(resolution(traces.path("traced")) == Approx(0.325));
  CHECK(resolution(traces.path("radio")) == Approx(0.001));
}

TEST_CASE("a new edge of the flow is reported") {
  const test::TemporaryDirectory directory;
  const std::string base = trace_of(directory, {.seed = 1});
  const std::string now = trace_of(directory, {.seed = 2, .has_tap = true});
  const json told = json::parse(output_of({"diff", base, "--against", now, "--json"}));
  CHECK(told["flow"]["appeared"] ==
        json::array({"D a--b > b--tap", "D b--tap > tap--c", "D tap--c > c--out"}));
  CHECK(told["flow"]["vanished"] == json::array({"D a--b > b--c", "D b--c > c--out"}));
  CHECK(of_name(told["times"], "tap")["verdict"] == "too little data");
  CHECK(output_of({"diff", base, "--against", now}).contains("only in new"));
}

TEST_CASE("a change that must not be has an exit code, and too little data another") {
  const test::TemporaryDirectory directory;
  const std::string base = trace_of(directory, {.seed = 1});
  const std::string same = trace_of(directory, {.seed = 2});
  const std::string slow = trace_of(directory, {.seed = 3, .extra_us = 150});
  const std::string few = trace_of(directory, {.seed = 4, .packets = 30});
  const auto ended = [&](const std::string& against, const std::string& condition) {
    return sojourn({"diff", base, "--against", against, "--fail-on", condition});
  };
  const test::Ended failed = ended(slow, "mean(D) > +20%");
  CHECK(failed.exit_code == 3);
  CHECK(failed.err.starts_with("sojourn: mean(D) > +20%: mean of D changed by +"));
  CHECK(std::ranges::count(failed.err, '\n') == 1);
  CHECK(failed.out.contains("D latency"));
  CHECK(ended(slow, "mean(D b) > +20us").exit_code == 3);
  CHECK(ended(same, "mean(D) > +60%").exit_code == 0);
  const test::Ended open = ended(few, "mean(D) > +20%");
  CHECK(open.exit_code == 4);
  CHECK(open.err.starts_with("sojourn: too little data: mean(D) > +20%: "));
  CHECK(ended(same, "mean(U) > +20%").exit_code == 4);
  const test::Ended unknown = ended(same, "mean(D bb) > +20us");
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.err == "sojourn: mean(D bb) > +20us: no trace has a place D bb: did you mean b?\n");
  CHECK(unknown.out.contains("D latency"));
  const test::Ended both = sojourn({"diff", base, "--against", slow, "--json", "--fail-on",
                                    "mean(D) > +20%", "--fail-on", "mean(U) > +1%"});
  CHECK(both.exit_code == 3);
  const json told = json::parse(both.out);
  CHECK(told["fail_on"][0]["finding"] == "holds");
  CHECK(told["fail_on"][1]["finding"] == "too little data");
}

TEST_CASE("several runs of each side are compared as runs, where they are enough") {
  const test::TemporaryDirectory directory;
  std::vector<std::string> arguments = {"diff", "--json"};
  for (std::uint64_t run = 1; run <= 5; ++run)
    arguments.push_back(trace_of(directory, {.seed = run, .packets = 600}));
  arguments.emplace_back("--against");
  for (std::uint64_t run = 11; run <= 15; ++run)
    arguments.push_back(trace_of(directory, {.seed = run, .packets = 600, .extra_us = 100}));
  const json told = json::parse(output_of(arguments));
  CHECK(told["unit"] == "run");
  CHECK(told["runs_needed"] == 5);
  const json& stage = of_name(told["times"], "b");
  CHECK(stage["units"] == json::array({5, 5}));
  CHECK(stage["verdict"] == "changed");
  CHECK(stage["p"] == Approx(2.0 / 252));
  CHECK(of_name(told["times"], "a")["verdict"] == "same");

  // Three runs of each side are too few to show a difference.
  arguments.erase(arguments.begin() + 2, arguments.begin() + 4);
  arguments.resize(arguments.size() - 2);
  const json few = json::parse(output_of(arguments));
  for (const json& row : few["times"]) CHECK(row["verdict"] == "too little data");
  arguments[1] = "--unit=run";
  CHECK(output_of(arguments).contains("4 tests at 0.05 take 5 and 5 to show anything"));
}

// The trait with exactly this condition, or null.
json trait_of(const json& direction, const json& what) {
  for (const json& trait : direction["traits"])
    if (trait["what"] == what) return trait;
  return nullptr;
}

TEST_CASE("traits of slow packets are listed with support and risk") {
  const test::TemporaryDirectory directory;
  const std::string trace = trace_of(directory, {.packets = 4000, .slow_ue_us = 1500});
  const json told = json::parse(output_of({"why-slow", trace, "--json"}));
  CHECK(told["D"]["packets"] == 4000);
  CHECK(told["D"]["slow"] == 40);
  const json ue = trait_of(told["D"], {{"rnti", "0x3"}});
  REQUIRE(ue.is_object());
  CHECK(ue["support"] == 1);
  CHECK(ue["risk_ratio"].is_null());
  CHECK(ue["p"] <= 0.05);
  const json asked =
      json::parse(output_of({"why-slow", trace, "--slow", "latency > 1ms", "--json"}));
  CHECK(asked["slow"] == "latency > 1ms");
  CHECK(trait_of(asked["D"], {{"rnti", "0x3"}}).is_object());
  const std::string text = output_of({"why-slow", trace});
  CHECK(text.starts_with("D: 40 of 4,000 packets are slow (longer than "));
  CHECK(text.contains("rnti = 0x3"));
  CHECK(text.contains("only these"));
}

TEST_CASE("why-slow calls as many packets slow as explain calls late, also with few packets") {
  const test::TemporaryDirectory directory;
  for (const std::size_t packets : {1U, 30U, 199U, 250U, 1201U}) {
    CAPTURE(packets);
    const std::string trace = trace_of(directory, {.packets = packets});
    const json slow = json::parse(output_of({"why-slow", trace, "--json"}));
    const json late = json::parse(output_of({"explain", trace, "--json"}));
    CHECK(slow["D"]["packets"] == packets);
    CHECK(slow["D"]["slow"] == late["late"]);
    CHECK(slow["D"]["slow"] >= 1);
    CHECK(slow["D"]["slow_from_ns"] == late["deadline_ns"]["D"]);
  }
}

TEST_CASE("a distribution says how far it may be off, where there is enough data") {
  const test::TemporaryDirectory directory;
  const std::string trace = trace_of(directory, {.packets = 4000});
  const json told = json::parse(output_of({"report", trace, "--cdf", "json"}));
  std::size_t intervals = 0;
  for (const json& curve : told["cdf"])
    for (const json& point : curve["points"]) {
      CHECK(point.contains("longer_95") == (curve["name"] == "latency"));
      if (curve["name"] != "latency") continue;
      CHECK(point["longer_95"][0] <= point["longer"]);
      CHECK(point["longer_95"][1] >= point["longer"]);
      CHECK(point["longer_95"][0] < point["longer_95"][1]);
      ++intervals;
    }
  CHECK(intervals > 99);
  const Traces traces;
  CHECK(!output_of({"report", traces.path("radio"), "--cdf", "json"}).contains("longer_95"));
}

TEST_CASE("the cause that took most of a packet's time is a trait, as explain counts it") {
  const test::TemporaryDirectory directory;
  const std::string trace = trace_of(directory, {.packets = 4000, .slow_ue_us = 1500});
  const json explained =
      json::parse(output_of({"explain", trace, "--deadline", "300us", "--json"}));
  const json told = json::parse(output_of({"why-slow", trace, "--slow", "latency > 300us",
                                           "--support", "0.001", "--most", "1000", "--json"}));
  std::size_t found = 0;
  for (const json& trait : told["D"]["traits"]) {
    if (trait["what"].size() != 1 || !trait["what"].contains("cause")) continue;
    ++found;
    CHECK(trait["where"].is_null());
    for (const json& cause : explained["causes"])
      if (cause["words"] == trait["what"]["cause"]) CHECK(cause["packets"] == trait["slow"]);
  }
  CHECK(found > 0);
}

TEST_CASE("real radio traces can be compared, and damaged or wrong ones are refused") {
  const Traces traces;
  const std::string radio = traces.path("radio");
  CHECK_FALSE(output_of({"flow", radio}).empty());
  CHECK_FALSE(output_of({"why-slow", radio}).empty());
  const json told = json::parse(output_of({"diff", radio, "--against", radio, "--json"}));
  for (const json& row : told["times"])
    for (const json& shift : row["shifts"]) CHECK(shift["by_us"] == 0);
  require_error(sojourn({"flow", "/nonexistent.sjt"}), "/nonexistent.sjt");
  require_error(sojourn({"diff", radio, "--against", "/nonexistent.sjt"}), "/nonexistent.sjt");
  CHECK(sojourn({"diff", radio}).exit_code == 2);
  CHECK(sojourn({"diff", radio, "--against", radio, "--fail-on", "p99"}).exit_code == 2);
  CHECK(sojourn({"flow", radio, "--share", "20"}).exit_code == 2);
  CHECK(sojourn({"flow", radio, "--clock-error", "x"}).exit_code == 2);
  CHECK(sojourn({"why-slow", radio, "--slow", "latency >"}).exit_code == 2);
}

TEST_CASE("diff says which causes of lateness grew, by the base's limit") {
  const test::TemporaryDirectory directory;
  const std::string base = trace_of(directory, {.seed = 11});
  const std::string now = trace_of(directory, {.seed = 12, .extra_us = 900});
  const json said = json::parse(output_of({"diff", base, "--against", now, "--causes", "--json"}));
  const json& late = said["late"];
  CHECK(late["down_us"].get<double>() > 0);
  CHECK(late["up_us"].is_null());
  REQUIRE_FALSE(late["causes"].empty());
  CHECK(late["causes"][0]["cause"].get<std::string>().contains("D b"));  // the stage that slowed
  CHECK(late["causes"][0]["new_share"] > late["causes"][0]["base_share"]);
  double base_late = 0;
  for (const json& cause : late["causes"]) base_late += cause["base_share"].get<double>();
  CHECK(base_late == Approx(0.01).margin(0.003));
  const std::string text = output_of({"diff", base, "--against", now, "--causes"});
  CHECK(text.contains("late (longer than the base's slowest hundredth: D "));
  CHECK_FALSE(output_of({"diff", base, "--against", now}).contains("late ("));
}

}  // namespace
}  // namespace sojourn::cli_tests
