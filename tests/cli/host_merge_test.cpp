// merge, on two and three hosts whose clocks have nothing to do with each other. What is true is
// known: traces are written by the hosts' own clocks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/golden/fixture.h"

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
  std::vector<std::string> points;
  std::vector<std::pair<double, std::string>> events;  // by the true time
};

std::string write(const test::TemporaryDirectory& directory, const Host& host) {
  std::string text = fmt::format("target {} 4242\n", host.name);
  auto events = host.events;
  std::ranges::stable_sort(events, {}, &std::pair<double, std::string>::first);
  text += fmt::format("capture {} {} 1 1\n", host.clock(0) - 1000,
                      host.clock(kPackets * kApartNs + 1e9));
  for (const std::string& point : host.points) text += "point " + point + "\n";
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

// Packets from the first to the second host and back; those from the first queue for longer.
Truth fill(Host& first, Host& second, std::uint64_t seed, bool both_ways = true) {
  first.points = {"D app.in--tx len:flow.sn", "D tx--wire len:flow.sn", "U air--rx len:flow.sn",
                  "U rx--app.out len:flow.sn"};
  second.points = {"D wire--peer.rx len:flow.sn", "D peer.rx--peer.out len:flow.sn",
                   "U peer.in--peer.tx len:flow.sn", "U peer.tx--air len:flow.sn"};
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> there(1 / 300e3);
  std::exponential_distribution<double> back(1 / 50e3);
  Truth truth;
  for (unsigned sn = 0; sn < kPackets; ++sn) {
    const double now = kApartNs * sn;
    const double wire_ns = 50e3 + there(random);
    truth.wire_ns[sn] = wire_ns;
    const auto hit = [sn](Host& host, double at, const char* point) {
      host.events.emplace_back(at, fmt::format("{} 100 1 {}", point, sn));
    };
    hit(first, now, "D app.in--tx");
    hit(first, now + 10e3, "D tx--wire");
    hit(second, now + 10e3 + wire_ns, "D wire--peer.rx");
    hit(second, now + 20e3 + wire_ns, "D peer.rx--peer.out");
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

TEST_CASE("one journey crosses hosts, and its times are right within the bound that is said") {
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
    std::istringstream lines(output_of({"journeys", merged, "--dir", "D", "--json"}));
    for (std::string line; std::getline(lines, line);) {
      const json journey = json::parse(line);
      if (!journey["complete"].get<bool>() || journey["events"].size() != 4) continue;
      ++complete;
      const json& sent = journey["events"][1];
      const json& came = journey["events"][2];
      const double wire_ns = came["t_ns"].get<double>() - sent["t_ns"].get<double>();
      right += std::abs(wire_ns - truth.wire_ns.at(sent["ids"]["sn"])) <= bound_ns + 2 ? 1 : 0;
    }
    CHECK(complete >= kPackets * 99 / 100);
    CHECK(right >= complete * 99 / 100);
  }
}

TEST_CASE("packets of one direction leave the offset open, and none leaves all open") {
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
  CHECK(sojourn({"report", out}).exit_code == 1);  // nothing was written
}

TEST_CASE("what merge tells people names the bound, the drift and the packets") {
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

}  // namespace
}  // namespace sojourn::cli_tests
