// merge, on two and three hosts with independent clocks. The truth is known: traces are written by
// the hosts' own clocks.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/base/count_text.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "tests/cli/energy_traces.h"
#include "tests/cli/programs.h"
#include "tests/golden/fixture.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;
using Clock = std::function<std::uint64_t(double)>;

constexpr unsigned kPackets = 2000;
constexpr double kApartNs = 5e6;

// A clock that is ahead, too fast, and set in the middle.
Clock clock_of(double ahead_ns, double drift_ppm, double step_ns) {
  return [=](double now) {
    const double step = now > kPackets * kApartNs / 2 ? step_ns : 0;
    return static_cast<std::uint64_t>(1e9 + ahead_ns + now * (1 + drift_ppm / 1e6) + step);
  };
}

struct Host {
  std::string name;
  Clock clock;
  std::vector<std::string> points = {};
  std::vector<std::pair<double, std::string>> events = {};  // by the true time
  // By how much its TAI is off the true time; none: TAI is not set.
  std::optional<double> tai_off_ns = std::nullopt;
  std::vector<std::string> more = {};  // lines of the fixture
};

std::string write(const test::TemporaryDirectory& directory, const Host& host) {
  std::string text = fmt::format("target {} 4242\n", host.name);
  auto events = host.events;
  std::ranges::stable_sort(events, {}, &std::pair<double, std::string>::first);
  text += fmt::format("capture {} {} 1 1\n", host.clock(0) - 1000,
                      host.clock(kPackets * kApartNs + 1e9));
  // Read once a second, as a capture does. UTC is 37 s behind TAI.
  for (double now = 0; now < kPackets * kApartNs; now += 1e9) {
    const double utc = 1.7e18 + now + host.tai_off_ns.value_or(0);
    const double tai = utc + (host.tai_off_ns ? 37e9 : 0);
    text += fmt::format("clock {} {} {} 40\n", host.clock(now), static_cast<std::uint64_t>(utc),
                        static_cast<std::uint64_t>(tai));
  }
  for (const std::string& point : host.points) text += "point " + point + "\n";
  for (const std::string& line : host.more) text += line + "\n";
  for (const auto& [now, words] : events)
    text += fmt::format("{} 0 7 {}\n", host.clock(now), words);
  const std::string fixture = directory.path(host.name + ".events");
  test::write_contents(fixture, text);
  const std::string trace = directory.path(host.name + ".sjt");
  const auto written = golden::write_trace(fixture, trace);
  if (!written) FAIL(written.error().text());
  return trace;
}

struct Truth {
  std::map<std::uint64_t, double> wire_ns;  // of each downlink packet
};

// Packets from the first to the second host and back; those from the first queue for longer. Each
// host takes 10 us for a downlink packet, or `slower_ns` more.
Truth fill(Host& first, Host& second, std::uint64_t seed, bool both_ways = true,
           double slower_ns = 0) {
  first.points = {"D app.in--tx len:flow.sn", "D tx--wire len:flow.sn", "U air--rx len:flow.sn",
                  "U rx--app.out len:flow.sn"};
  second.points = {"D wire--peer.rx len:flow.sn", "D peer.rx--peer.out len:flow.sn",
                   "U peer.in--peer.tx len:flow.sn", "U peer.tx--air len:flow.sn"};
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> there(1 / 300e3);
  std::exponential_distribution<double> back(1 / 50e3);
  std::mt19937_64 of_work(seed + 1000);
  std::uniform_real_distribution<double> work(9.5e3 + slower_ns, 10.5e3 + slower_ns);
  Truth truth;
  for (unsigned sn = 0; sn < kPackets; ++sn) {
    const double now = kApartNs * sn;
    const double wire_ns = 50e3 + there(random);
    truth.wire_ns[sn] = wire_ns;
    const auto hit = [sn](Host& host, double at, const char* point) {
      host.events.emplace_back(at, fmt::format("{} 100 1 {}", point, sn));
    };
    const double left = now + work(of_work);
    hit(first, now, "D app.in--tx");
    hit(first, left, "D tx--wire");
    hit(second, left + wire_ns, "D wire--peer.rx");
    hit(second, left + wire_ns + work(of_work), "D peer.rx--peer.out");
    if (!both_ways) continue;
    const double sent = now + 2e6;
    hit(second, sent, "U peer.in--peer.tx");
    hit(second, sent + 5e3, "U peer.tx--air");
    const double came = sent + 25e3 + back(random);
    hit(first, came, "U air--rx");
    hit(first, came + 5e3, "U rx--app.out");
  }
  return truth;
}

TEST_CASE("one journey crosses hosts, and its times are right within the stated bound") {
  struct Case {
    double drift_ppm;
    double step_ns;
  };
  for (const auto& [drift_ppm, step_ns] :
       {Case{0, 0}, Case{30, 0}, Case{-30, 7e6}, Case{30, -7e6}}) {
    CAPTURE(drift_ppm, step_ns);
    const test::TemporaryDirectory directory;
    Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
    Host second = {.name = "second",
                   .clock = clock_of(3.6e12, drift_ppm, step_ns),
                   .points = {},
                   .events = {}};
    const Truth truth = fill(first, second, 1);
    const std::string merged = directory.path("merged.sjt");
    const json told = json::parse(output_of(
        {"merge", write(directory, first), write(directory, second), "-o", merged, "--json"}));
    CHECK(told["pairs"][0]["packets_there"] == kPackets);
    CHECK(told["pairs"][0]["packets_back"] == kPackets);
    CHECK(told["pairs"][0]["stray"] == 0);
    const json& clock = told["clocks"][0];
    CHECK(clock["steps"] == (step_ns == 0 ? 0 : 1));
    CHECK(clock["drift_low_ppm"] <= drift_ppm);
    CHECK(clock["drift_high_ppm"] >= drift_ppm);
    const double bound_ns = clock["bound_ns"];
    CHECK(bound_ns >= 30e3);  // half of the shortest way there and back
    if (step_ns == 0) CHECK(bound_ns < 60e3);

    unsigned complete = 0;
    unsigned right = 0;
    unsigned narrower = 0;
    std::istringstream lines(output_of({"journeys", merged, "--dir", "D", "--json"}));
    for (std::string line; std::getline(lines, line);) {
      const json journey = json::parse(line);
      if (!journey["complete"].get<bool>() || journey["events"].size() != 4) continue;
      ++complete;
      const json& sent = journey["events"][1];
      const json& came = journey["events"][2];
      const double wire_ns = came["t_ns"].get<double>() - sent["t_ns"].get<double>();
      CHECK(sent["host"] == 0);
      CHECK(came["host"] == 1);
      CHECK(sent["error_ns"] == 0);  // by the clock of the first event
      const double error_ns = came["error_ns"];
      CHECK(error_ns <= bound_ns + 1);
      narrower += error_ns < bound_ns / 2 ? 1 : 0;
      right += std::abs(wire_ns - truth.wire_ns.at(sent["ids"]["sn"])) <= error_ns + 2 ? 1 : 0;
      // The last event is of the same host, 10 us later.
      if (step_ns == 0)
        CHECK(std::abs(journey["latency_error_ns"].get<double>() - error_ns) < 1000);
    }
    // Only around a step are the bounds as wide as the step.
    if (step_ns != 0) CHECK(narrower >= complete * 9 / 10);
    CHECK(complete >= kPackets * 99 / 100);
    CHECK(right >= complete * 99 / 100);
    CHECK(output_of({"journeys", merged, "--dir", "D", "--worst", "1"}).contains("  +- "));
    CHECK(output_of({"report", merged})
              .contains("of 2 hosts: times from one to another may be off by "));
    const json report = json::parse(output_of({"report", merged, "--json"}));
    CHECK(report["clocks"]["hosts"] == 2);
    CHECK(report["clocks"]["between_hosts_ns"] >= bound_ns);
    CHECK(report["clocks"]["on_one_host_ns"] == 0);
  }
}

TEST_CASE("diff of merged traces finds a small change on one host, and none between hosts") {
  const test::TemporaryDirectory directory;
  const auto merged = [&](std::uint64_t seed, double slower_ns) {
    Host first = {.name = fmt::format("first{}", seed), .clock = clock_of(0, 0, 0)};
    Host second = {.name = fmt::format("second{}", seed), .clock = clock_of(3e12, 30, 0)};
    fill(first, second, seed, true, slower_ns);
    const std::string path = directory.path(fmt::format("merged{}.sjt", seed));
    output_of({"merge", write(directory, first), write(directory, second), "-o", path});
    return path;
  };
  const std::string base = merged(1, 0);
  const std::string now = merged(2, 2e3);
  const json about = json::parse(output_of({"check", base, "--json"}));
  CHECK(about["stamp_error_ns"] >= 30'000);
  REQUIRE(about["hosts"].size() == 2);
  for (const json& host : about["hosts"]) CHECK(host["stamp_error_ns"] == 0);
  CHECK(about["hosts"][0]["rate_error_ppb"] == 0);
  CHECK(about["hosts"][1]["rate_error_ppb"] > 100);  // the drift is known to some parts in 10^6
  CHECK(about["hosts"][1]["rate_error_ppb"] < 20'000);
  CHECK(output_of({"check", base}).contains("hosts    2: stamps of one host are right within "));

  const json told = json::parse(output_of({"diff", base, "--against", now, "--json"}));
  const auto row = [&](const char* name, const char* direction) -> json {
    for (const json& each : told["times"])
      if (each["name"] == name && each["dir"] == direction) return each;
    FAIL(name << " is not compared");
    return {};
  };
  for (const char* const place : {"tx", "peer.rx"}) {
    CAPTURE(place);
    CHECK(row(place, "D")["resolution_us"] < 0.01);
    CHECK(row(place, "D")["verdict"] == "changed");
  }
  for (const char* const name : {"wire", "latency"}) {
    CAPTURE(name);
    CHECK(row(name, "D")["resolution_us"] >= 30);
    CHECK(row(name, "D")["verdict"] != "changed");
  }
  CHECK(output_of({"flow", base}).contains(", those of one host have its clock's order"));
}

TEST_CASE("packets of one direction leave the offset open, and without packets all is open") {
  const test::TemporaryDirectory directory;
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
  Host second = {.name = "second", .clock = clock_of(1e12, 10, 0), .points = {}, .events = {}};
  fill(first, second, 2, false);
  const std::string out = directory.path("merged.sjt");
  const std::string one = write(directory, first);
  require_error(sojourn({"merge", one, write(directory, second), "-o", out}),
                "packets are seen in one direction only (2000 and 0)");
  Host stranger = {.name = "third",
                   .clock = clock_of(0, 0, 0),
                   .points = {"D other.in--other len:flow.sn", "D other--other.out len:flow.sn"},
                   .events = {{1e6, "D other.in--other 1 1 1"}}};
  require_error(sojourn({"merge", one, write(directory, stranger), "-o", out}),
                "no packet of it is seen");
  CHECK(sojourn({"merge", one, "-o", out}).exit_code == 2);
  CHECK(sojourn({"merge", one, one}).exit_code == 2);
  CHECK(sojourn({"report", out}).exit_code == 1);  // no file was written
}

TEST_CASE("answers with their packets' ids are probes, whose four stamps agree with the line") {
  const test::TemporaryDirectory directory;
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
  Host second = {.name = "second", .clock = clock_of(5e9, 30, 0), .points = {}, .events = {}};
  fill(first, second, 4);
  const std::string merged = directory.path("merged.sjt");
  const std::vector<std::string> merge = {"merge", write(directory, first),
                                          write(directory, second), "-o", merged};
  auto as_json = merge;
  as_json.emplace_back("--json");
  const json told = json::parse(output_of(as_json));
  const json& pair = told["pairs"][0];
  // Seldom a packet waits for longer than its answer takes to be sent.
  const unsigned probes = pair["probes"];
  CHECK(probes >= kPackets - 10);
  CHECK(pair["probes_disagree"] == 0);
  // The shortest ways are 50 us there and 20 us back, which no probe has both of.
  CHECK(pair["probe_bound_ns"] > 35e3);
  CHECK(pair["probe_bound_ns"] < 80e3);
  CHECK(output_of(merge).contains(
      fmt::format("{} packets were answered with their ids", grouped(probes))));
}

TEST_CASE("by TAI one direction is enough, and packets that contradict it are reported") {
  const test::TemporaryDirectory directory;
  const std::string merged = directory.path("merged.sjt");
  const auto merge = [&](double off_ns, const char* error) {
    Host first = {.name = "first", .clock = clock_of(0, 0, 0), .tai_off_ns = 0};
    Host second = {.name = "second", .clock = clock_of(7e12, 0, 0), .tai_off_ns = off_ns};
    fill(first, second, 5, false);
    return sojourn({"merge", write(directory, first), write(directory, second), "-o", merged,
                    "--tai", error, "--json"});
  };
  const test::Ended good = merge(300, "1us");
  INFO(good.err);
  REQUIRE(good.exit_code == 0);
  CHECK_FALSE(good.err.contains("contradict"));
  const json clock = json::parse(good.out)["clocks"][0];
  CHECK(clock["bound_ns"] == 1080);  // and twice 40 ns of reading the clocks
  CHECK(clock["steps"] == 0);
  CHECK(clock["off_by_ns"].is_null());
  CHECK(json::parse(good.out)["by"] == "TAI");

  // A packet takes at least 50 us between the hosts, so a negative time is a contradiction.
  const test::Ended off = merge(-900e3, "1us");
  CHECK(off.exit_code == 0);
  CHECK(off.err.contains("packets contradict its TAI by "));
  CHECK(json::parse(off.out)["clocks"][0]["off_by_ns"] > 700e3);
}

TEST_CASE("TAI that is not set relates no clocks") {
  const test::TemporaryDirectory directory;
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .tai_off_ns = 0};
  Host second = {.name = "second", .clock = clock_of(1e9, 0, 0)};
  fill(first, second, 6);
  require_error(sojourn({"merge", write(directory, first), write(directory, second), "-o",
                         directory.path("merged.sjt"), "--tai", "1us"}),
                "second.sjt: its TAI is not set");
  CHECK(sojourn({"merge", "a", "b", "-o", "c", "--tai", "1"}).exit_code == 2);
}

// Three hosts, each with packets to and from each other one.
// `is_chain`: those of the first two exchange none.
std::array<Host, 3> triangle(const std::array<Clock, 3>& clocks, double shortcut_ns,
                             bool is_chain = false) {
  std::array<Host, 3> hosts;
  const auto place = [](std::size_t from, std::size_t to, const char* where) {
    return fmt::format("{}{}.{}", from, to, where);
  };
  for (std::size_t host = 0; host < 3; ++host) {
    hosts[host] = {.name = fmt::format("host{}", host), .clock = clocks[host]};
    for (std::size_t other = 0; other < 3; ++other) {
      if (other == host) continue;
      hosts[host].points.push_back(fmt::format("D {}--{} len:flow.sn", place(host, other, "tx"),
                                               place(host, other, "wire")));
      hosts[host].points.push_back(fmt::format("D {}--{} len:flow.sn", place(other, host, "wire"),
                                               place(other, host, "rx")));
    }
  }
  std::mt19937_64 random(9);
  std::exponential_distribution<double> queue(1 / 40e3);
  for (unsigned sn = 0; sn < kPackets; ++sn)
    for (std::size_t from = 0; from < 3; ++from)
      for (std::size_t to = 0; to < 3; ++to) {
        if (from == to || (is_chain && from + to == 1)) continue;
        const double sent = kApartNs * sn + 1e5 * static_cast<double>(from);
        // Stamps that are wrong between the first and the last host only.
        const double wrong = from == 0 && to == 2   ? -shortcut_ns
                             : from == 2 && to == 0 ? shortcut_ns
                                                    : 0;
        const double came = sent + 30e3 + queue(random) + wrong;
        const auto flow = from * 3 + to;
        hosts[from].events.emplace_back(
            sent, fmt::format("D {}--{} 100 {} {}", place(from, to, "tx"), place(from, to, "wire"),
                              flow, sn));
        hosts[to].events.emplace_back(
            came, fmt::format("D {}--{} 100 {} {}", place(from, to, "wire"), place(from, to, "rx"),
                              flow, sn));
      }
  return hosts;
}

TEST_CASE("three hosts agree, and if two of them disagree it is reported") {
  const test::TemporaryDirectory directory;
  const std::string merged = directory.path("merged.sjt");
  const std::array<Clock, 3> clocks = {clock_of(0, 0, 0), clock_of(2e9, 20, 0),
                                       clock_of(9e12, -25, 0)};
  const auto merge = [&](double shortcut_ns) {
    std::vector<std::string> arguments = {"merge"};
    for (const Host& host : triangle(clocks, shortcut_ns))
      arguments.push_back(write(directory, host));
    arguments.insert(arguments.end(), {"-o", merged, "--json"});
    return sojourn(arguments);
  };
  const test::Ended sound = merge(0);
  INFO(sound.err);
  REQUIRE(sound.exit_code == 0);
  CHECK(sound.err.empty());
  const json told = json::parse(sound.out);
  REQUIRE(told["clocks"].size() == 2);
  REQUIRE(told["pairs"].size() == 3);
  for (const json& clock : told["clocks"]) CHECK(clock["bound_ns"] < 60e3);

  const test::Ended broken = merge(400e3);
  CHECK(broken.exit_code == 0);
  CHECK(broken.err.contains("contradict each other by "));
}

TEST_CASE("a merged trace can be merged with another one, and no two hosts' threads become one") {
  const test::TemporaryDirectory directory;
  const auto hosts = triangle({clock_of(0, 0, 0), clock_of(2e9, 20, 0), clock_of(9e12, -25, 0)}, 0);
  const std::string two = directory.path("two.sjt");
  const std::string three = directory.path("three.sjt");
  output_of({"merge", write(directory, hosts[0]), write(directory, hosts[1]), "-o", two});
  output_of({"merge", two, write(directory, hosts[2]), "-o", three});
  auto reader = files::open_trace(three);
  REQUIRE(reader);
  std::set<std::uint32_t> threads;
  model::EventBatch events;
  for (const trace::BlockInfo& block : reader->blocks()) {
    REQUIRE(reader->read(block, events));
    threads.insert(events.tid().begin(), events.tid().end());
  }
  CHECK(threads.size() == 3);
  CHECK(reader->capture().hosts.size() == 3);
}

TEST_CASE("a merged trace says which host's points were off, and when by the first one's clock") {
  const test::TemporaryDirectory directory;
  const Clock ahead = clock_of(5e9, 20, 0);
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
  Host second = {.name = "second", .clock = ahead, .points = {}, .events = {}};
  fill(first, second, 3);
  constexpr double kFromNs = 2e9;
  constexpr double kUntilNs = 3e9;
  second.more = {fmt::format("shed 1 {} {}", ahead(kFromNs), ahead(kUntilNs))};
  const std::string merged = directory.path("merged.sjt");
  output_of({"merge", write(directory, first), write(directory, second), "-o", merged});
  auto reader = files::open_trace(merged);
  REQUIRE(reader);
  const auto& shed = reader->capture().shed;
  REQUIRE(shed.size() == 1);
  const auto& points = reader->schema().points;
  REQUIRE(shed[0].point < points.size());
  CHECK(points[shed[0].point].dest == "peer.out");
  CHECK(static_cast<double>(shed[0].from_ns) == Catch::Approx(first.clock(kFromNs)).margin(1e5));
  CHECK(static_cast<double>(shed[0].until_ns) == Catch::Approx(first.clock(kUntilNs)).margin(1e5));
}

TEST_CASE("a host that shares no packets with the first one is related by a third one") {
  const test::TemporaryDirectory directory;
  std::vector<std::string> arguments = {"merge"};
  const auto hosts =
      triangle({clock_of(0, 0, 0), clock_of(2e9, 40, 0), clock_of(9e12, -25, 0)}, 0, true);
  for (const Host& host : hosts) arguments.push_back(write(directory, host));
  arguments.insert(arguments.end(), {"-o", directory.path("merged.sjt"), "--json"});
  const json told = json::parse(output_of(arguments));
  REQUIRE(told["pairs"].size() == 2);
  REQUIRE(told["clocks"].size() == 2);
  for (const auto& [at, drift_ppm] : {std::pair(0, 40.0), std::pair(1, -25.0)}) {
    CAPTURE(at);
    const json& clock = told["clocks"][static_cast<std::size_t>(at)];
    CHECK(clock["drift_low_ppm"] <= drift_ppm);
    CHECK(clock["drift_high_ppm"] >= drift_ppm);
    CHECK(clock["drift_high_ppm"].get<double>() - clock["drift_low_ppm"].get<double>() < 40);
  }
  // Its bounds are those of both pairs.
  CHECK(told["clocks"][0]["bound_ns"] > told["clocks"][1]["bound_ns"]);
}

TEST_CASE("the energy of all hosts adds up, and one without leaves no total") {
  const test::TemporaryDirectory directory;
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
  Host second = {.name = "second", .clock = clock_of(5e9, 20, 0), .points = {}, .events = {}};
  fill(first, second, 4);
  const std::string one = write(directory, first);
  const std::string other = write(directory, second);
  const std::string merged = directory.path("merged.sjt");
  const auto energy_of_merged = [&] {
    output_of({"merge", one, other, "-o", merged, "--json"});
    CHECK(sojourn({"check", merged}).exit_code == 0);
    return json::parse(output_of({"report", merged, "--json"}))["energy"];
  };
  add_energy(one, {.package_watts = 30, .dram_watts = 4, .khz = 800'000});
  const json lacking = energy_of_merged();
  CHECK(lacking["measured"] == false);
  CHECK(lacking["why_not"].get<std::string>().ends_with("was not recorded there"));
  add_energy(other, {.package_watts = 20, .dram_watts = 6, .khz = 3'500'000});
  const json energy = energy_of_merged();
  CAPTURE(energy.dump());
  REQUIRE(energy["measured"] == true);
  CHECK(energy["watts"].get<double>() == Catch::Approx(60).epsilon(0.01));
  REQUIRE(energy["zones"].size() == 4);
  for (const json& zone : energy["zones"]) CHECK(zone["counts"] == true);
  CHECK(energy["zones"][0]["host"] != energy["zones"][2]["host"]);
  CHECK(energy["zones"][2]["watts"].get<double>() == Catch::Approx(20).epsilon(0.01));
  REQUIRE(energy["frequency"].size() == 2);
  CHECK(energy["frequency"][1]["mean_khz"] == 3'500'000);
}

TEST_CASE("the summary of merge names the bound, the drift and the packets") {
  const test::TemporaryDirectory directory;
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
  Host second = {.name = "second", .clock = clock_of(5e9, 20, 0), .points = {}, .events = {}};
  fill(first, second, 3);
  const std::string merged = directory.path("merged.sjt");
  const std::string text =
      output_of({"merge", write(directory, first), write(directory, second), "-o", merged});
  CHECK(text.contains("both saw 2,000 packets there and 2,000 back"));
  CHECK(text.contains(" ppm"));
  CHECK(text.ends_with("next: sojourn report " + merged + "\n"));
  // The flow knows that stamps of the two hosts may be off.
  CHECK(output_of({"flow", merged}).starts_with("flow of D: 2,000 packets; stamps of two threads"));
}

// The trace again, with a queue and a counter whose samples need their names.
model::QueueChanges add_names(const std::string& trace) {
  auto reader = files::open_trace(trace);
  REQUIRE(reader);
  model::QueueChanges queues(1);
  queues[0].ts_ns = 5;
  queues[0].about.id = 7;
  queues[0].about.name = "rlc";
  model::Profile profile;
  profile.counters.push_back({.name = "cycles", .period = 9, .user_only = true, .missing = ""});
  model::Sampling sampling;
  sampling.passes = 3;
  const std::string path = trace + ".again";
  auto writer = files::create_trace(path);
  REQUIRE(writer);
  REQUIRE(writer->write(reader->schema()));
  REQUIRE(writer->write(reader->target()));
  for (const model::Stream& one : reader->streams()) REQUIRE(writer->write(one));
  REQUIRE(writer->write(queues));
  REQUIRE(writer->write(profile));
  model::EventBatch events;
  for (const trace::BlockInfo& block : reader->blocks()) {
    REQUIRE(reader->read(block, events));
    REQUIRE(writer->write(events));
  }
  REQUIRE(writer->write(sampling));
  REQUIRE(writer->write(reader->capture()));
  REQUIRE(writer->finish());
  std::filesystem::rename(path, trace);
  return queues;
}

TEST_CASE("the descriptions of the first host's samples are in the merged trace") {
  const test::TemporaryDirectory directory;
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
  Host second = {.name = "second", .clock = clock_of(5e9, 20, 0), .points = {}, .events = {}};
  fill(first, second, 3);
  const std::string one = write(directory, first);
  const auto queues = add_names(one);
  const std::string merged = directory.path("merged.sjt");
  output_of({"merge", one, write(directory, second), "-o", merged});
  auto reader = files::open_trace(merged);
  REQUIRE(reader);
  CHECK(reader->queue_changes() == queues);
  CHECK(reader->sampling().passes == 3);
  REQUIRE(reader->profile().counters.size() == 1);
  CHECK(reader->profile().counters[0].name == "cycles");
}

TEST_CASE("a merged trace does not take the place of one that it is made of") {
  const test::TemporaryDirectory directory;
  Host first = {.name = "first", .clock = clock_of(0, 0, 0), .points = {}, .events = {}};
  Host second = {.name = "second", .clock = clock_of(5e9, 20, 0), .points = {}, .events = {}};
  fill(first, second, 3);
  const std::string one = write(directory, first);
  const std::string two = write(directory, second);
  const std::string before = test::contents(two);
  const test::Ended refused = sojourn({"merge", one, two, "-o", two});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err == fmt::format("sojourn: write {}: it is a trace to merge\n", two));
  CHECK(test::contents(two) == before);
}

}  // namespace
}  // namespace sojourn::cli_tests
