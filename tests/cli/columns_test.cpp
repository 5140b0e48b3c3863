// Every figure of `report --by`, for each group, compared with the plainest computation from the
// traffic.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/golden/fixture.h"

namespace sojourn::cli_tests {
namespace {

using Catch::Matchers::WithinAbs;
using nlohmann::json;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kOpenNs = 1'000'000'000;
constexpr std::uint64_t kCloseNs = 5'000'000'000;
constexpr std::uint64_t kDeadlineNs = 700'000;

struct Sample {
  std::uint64_t at_ns = 0;
  std::uint64_t took_ns = 0;
  std::uint64_t bytes = 0;
};
// By direction and name: " 12" is a thread's.
using Samples = std::map<std::string, std::vector<Sample>>;

// Packets of three UEs with two bearers each, in bursts; some are dropped on the way.
class Traffic {
 public:
  Traffic() {
    for (std::uint64_t i = 0; i < 3000; ++i) {
      const Bearer bearer = {1 + random_() % 3, 1 + random_() % 2};
      // Two busy seconds of four.
      const auto burst = kOpenNs + random_() % 40 * 100 * kMs + random_() % (20 * kMs);
      i % 3 == 0 ? up(bearer, burst, i) : down(bearer, burst, i);
    }
  }

  std::string fixture() const {
    std::string text = fmt::format("target made 7\ncapture {} {} 0 0\n", kOpenNs, kCloseNs);
    for (const auto& [point, thread] : kPoints)
      text += fmt::format("point {} len:rnti:drb.sn\n", point);
    for (const auto& [at_ns, event] : events_) text += fmt::format("{} 0 {}\n", at_ns, event);
    return text;
  }

  // The samples by the groups of --by.
  std::map<std::string, Samples> by;

 private:
  struct Bearer {
    std::uint64_t rnti = 0;
    std::uint64_t drb = 0;
  };
  inline static const std::map<std::string, unsigned> kPoints = {
      {"D in--pdcp.in", 11},    {"D pdcp.in--rlc.tx", 12}, {"D rlc.tx--mac.mux", 13},
      {"D rlc.tx--drop", 13},   {"D mac.mux--out", 14},    {"U ant--rlc.rx", 15},
      {"U rlc.rx--ip.out", 16},
  };

  // No two of one time: then their order is known.
  std::uint64_t event(const std::string& point, std::uint64_t at_ns, Bearer bearer,
                      std::uint64_t sn, std::uint64_t bytes) {
    while (events_.contains(at_ns)) ++at_ns;
    const auto thread = kPoints.at(point);
    events_[at_ns] =
        fmt::format("{} {} {} {} {} {}", thread, point, bytes, bearer.rnti, bearer.drb, sn);
    by["point"][point].push_back({at_ns, 0, bytes});
    // A packet that the thread dropped does not count as passed on.
    const auto passed = point == "D rlc.tx--drop" ? 0 : bytes;
    by["thread"][fmt::format("  {}", thread)].push_back({at_ns, 0, passed});
    return at_ns;
  }

  void stay(const std::string& direction, const std::string& from, const std::string& at,
            const std::string& to, std::uint64_t entered_ns, std::uint64_t left_ns,
            std::uint64_t bytes) {
    const Sample sample = {left_ns, left_ns - entered_ns, bytes};
    by["hop"][fmt::format("{} {} -> {} -> {}", direction, from, at, to)].push_back(sample);
    by["layer"][fmt::format("{} {}", direction, at.substr(0, at.find('.')))].push_back(sample);
  }

  void packet(const std::string& direction, const std::string& path, Bearer bearer, Sample sample) {
    by["ue"][fmt::format("{} rnti {:#x}", direction, bearer.rnti)].push_back(sample);
    by["bearer"][fmt::format("{} rnti {:#x} drb {}", direction, bearer.rnti, bearer.drb)].push_back(
        sample);
    by["path"][fmt::format("{} {}", direction, path)].push_back(sample);
  }

  std::uint64_t some() { return 1 + random_() % 400'000; }

  void down(Bearer bearer, std::uint64_t at_ns, std::uint64_t sn) {
    const auto bytes = 40 + random_() % 1400;
    const auto in = event("D in--pdcp.in", at_ns, bearer, sn, bytes);
    const auto rlc = event("D pdcp.in--rlc.tx", in + some(), bearer, sn, bytes);
    stay("D", "in", "pdcp.in", "rlc.tx", in, rlc, bytes);
    if (random_() % 10 == 0) {
      const auto drop = event("D rlc.tx--drop", rlc + some(), bearer, sn, bytes);
      stay("D", "pdcp.in", "rlc.tx", "drop", rlc, drop, 0);
      return;
    }
    const auto mac = event("D rlc.tx--mac.mux", rlc + some(), bearer, sn, bytes);
    stay("D", "pdcp.in", "rlc.tx", "mac.mux", rlc, mac, bytes);
    const auto out = event("D mac.mux--out", mac + some(), bearer, sn, bytes);
    stay("D", "rlc.tx", "mac.mux", "out", mac, out, bytes);
    packet("D", "in -> pdcp.in -> rlc.tx -> mac.mux -> out", bearer, {in, out - in, bytes});
  }

  void up(Bearer bearer, std::uint64_t at_ns, std::uint64_t sn) {
    const auto bytes = 40 + random_() % 1400;
    const auto in = event("U ant--rlc.rx", at_ns, bearer, sn, bytes);
    const auto out = event("U rlc.rx--ip.out", in + some() + some(), bearer, sn, bytes);
    stay("U", "ant", "rlc.rx", "ip.out", in, out, bytes);
    packet("U", "ant -> rlc.rx -> ip.out", bearer, {out, out - in, bytes});
  }

  std::mt19937_64 random_{5};
  std::map<std::uint64_t, std::string> events_;
};

void check_times(const json& told, std::vector<std::uint64_t> values) {
  struct Quantile {
    const char* name;
    std::uint64_t in_100000;
  };
  const auto is = [&](const char* column, double ns) {
    CAPTURE(column);
    CHECK_THAT(told[column].get<double>() * 1e3, WithinAbs(ns, 1.0));
  };
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const auto value : values) sum += static_cast<double>(value);
  double squares = 0;
  for (const auto value : values) squares += std::pow(static_cast<double>(value) - sum / n, 2);
  std::ranges::sort(values);
  is("mean", sum / n);
  is("stdev", values.size() < 2 ? 0 : std::sqrt(squares / (n - 1)));
  is("min", static_cast<double>(values.front()));
  is("max", static_cast<double>(values.back()));
  for (const auto& [name, in_100000] :
       {Quantile{"p50", 50'000}, Quantile{"p90", 90'000}, Quantile{"p99", 99'000},
        Quantile{"p999", 99'900}, Quantile{"p9999", 99'990}, Quantile{"p99999", 99'999}})
    is(name, static_cast<double>(values[(values.size() * in_100000 + 99'999) / 100'000 - 1]));
  CHECK(told["exact"] == true);
}

// The most in a millisecond, and against the mean one of its second, counted from the first on.
std::pair<std::uint64_t, double> busiest(const std::vector<Sample>& samples) {
  std::map<std::uint64_t, std::uint64_t> by_ms;
  std::map<std::uint64_t, std::uint64_t> by_second;
  const auto first_ns = samples.front().at_ns;
  for (const auto& sample : samples) {
    ++by_ms[(sample.at_ns - first_ns) / kMs];
    ++by_second[(sample.at_ns - first_ns) / kSecond];
  }
  const auto [ms, most] = *std::ranges::max_element(by_ms, {}, [](auto one) { return one.second; });
  const auto second = ms / 1000;
  const auto length_ms =
      second == by_second.rbegin()->first ? by_ms.rbegin()->first % 1000 + 1 : 1000;
  return {most, static_cast<double>(most * length_ms) / static_cast<double>(by_second[second])};
}

void check_group(const json& told, std::vector<Sample> samples, bool counts_events) {
  std::ranges::sort(samples, {}, &Sample::at_ns);
  std::vector<std::uint64_t> took;
  std::vector<std::uint64_t> gaps;
  std::vector<std::uint64_t> changes;
  std::uint64_t bytes = 0;
  std::uint64_t late = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    took.push_back(samples[i].took_ns);
    bytes += samples[i].bytes;
    late += samples[i].took_ns > kDeadlineNs ? 1 : 0;
    if (i == 0) continue;
    const auto before_ns = samples[i - 1].took_ns;
    gaps.push_back(samples[i].at_ns - samples[i - 1].at_ns);
    changes.push_back(std::max(before_ns, took[i]) - std::min(before_ns, took[i]));
  }
  REQUIRE(samples.size() > 2);
  CHECK(told["count"] == samples.size());
  CHECK_THAT(told["a_second"].get<double>(),
             WithinAbs(static_cast<double>(samples.size()) / 4.0, 0.01));
  REQUIRE(told.contains("bits_a_second") == (bytes != 0));
  if (bytes != 0)
    CHECK_THAT(told["bits_a_second"].get<double>(),
               WithinAbs(static_cast<double>(bytes) * 8 / 4.0, 1.0));
  check_times(told["gap_us"], gaps);
  const auto [most, times_mean] = busiest(samples);
  CHECK(told["busiest_ms"] == most);
  CHECK_THAT(told["burstiness"].get<double>(), WithinAbs(times_mean, 0.001));
  REQUIRE(told.contains("latency_us") != counts_events);
  if (counts_events) return;
  check_times(told["latency_us"], took);
  check_times(told["change_us"], changes);
  double sum = 0;
  for (const auto change : changes) sum += static_cast<double>(change);
  CHECK_THAT(told["jitter_us"].get<double>() * 1e3,
             WithinAbs(sum / static_cast<double>(changes.size()), 1.0));
  CHECK(told["out_of_order"] == 0);
  CHECK(told["late"]["of"] == samples.size());
  CHECK(told["late"]["late"] == late);
}

TEST_CASE("every figure of every --by agrees with the traffic") {
  const test::TemporaryDirectory directory;
  const Traffic traffic;
  const std::string fixture = directory.path("made.events");
  const std::string trace = directory.path("made.sjt");
  test::write_contents(fixture, traffic.fixture());
  const auto written = golden::write_trace(fixture, trace);
  if (!written) FAIL(written.error().text());
  REQUIRE(traffic.by.size() == 7);
  for (const auto& [by, samples] : traffic.by) {
    CAPTURE(by);
    const bool counts_events = by == "point" || by == "thread";
    std::vector<std::string> command = {"report", trace, "--by", by, "--json"};
    if (!counts_events) command.insert(command.end(), {"--deadline", "700us"});
    const json told = json::parse(output_of(command));
    CHECK(told["duration_s"] == 4.0);
    CHECK(told["groups"].size() == samples.size());
    for (const json& group : told["groups"]) {
      const std::string name = group.value("dir", " ") + " " + group["name"].get<std::string>();
      CAPTURE(name);
      const auto found = samples.find(name);
      REQUIRE(found != samples.end());
      check_group(group, found->second, counts_events);
    }
  }
}

}  // namespace
}  // namespace sojourn::cli_tests
