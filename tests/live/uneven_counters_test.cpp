// A target and a sojourn that imitate a machine whose CPUs' cycle counters disagree: the recorder
// measures the offsets and corrects its times to the clock's. Each hit carries the clock's time
// from just before it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

struct Hit {
  std::int64_t clock_ns = 0;  // just before it
  std::int64_t ts_ns = 0;

  std::int64_t late_ns() const { return ts_ns - clock_ns; }
};

std::map<std::string, std::vector<Hit>> hits_by_thread(trace::Reader& reader) {
  std::map<std::string, std::vector<Hit>> hits;
  REQUIRE(reader.merge([&](const model::EventBatch& events) {
    for (std::size_t row = 0; row < events.size(); ++row)
      hits[reader.schema().points[events[row].point].src].push_back(
          {.clock_ns = static_cast<std::int64_t>(events[row].values.front()),
           .ts_ns = static_cast<std::int64_t>(events[row].ts_ns)});
    return true;
  }));
  return hits;
}

std::int64_t median_late_ns(std::vector<Hit> hits) {
  REQUIRE(hits.size() > 500);
  const auto middle = hits.begin() + static_cast<std::ptrdiff_t>(hits.size() / 2);
  std::ranges::nth_element(hits, middle, {}, &Hit::late_ns);
  return middle->late_ns();
}

// A hit comes after the clock was read and before the same thread reads it again.
std::size_t outside_of(const std::vector<Hit>& hits, std::int64_t error_ns) {
  std::size_t outside = 0;
  for (std::size_t at = 0; at < hits.size(); ++at) {
    const bool is_early = hits[at].ts_ns < hits[at].clock_ns - error_ns;
    const bool is_late = at + 1 < hits.size() && hits[at].ts_ns > hits[at + 1].clock_ns + error_ns;
    outside += is_early || is_late ? 1 : 0;
  }
  return outside;
}

bool may_use_cpus_0_and_1() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_ISSET(0, &cpus) &&
         CPU_ISSET(1, &cpus);
}

TEST_CASE("CPUs whose cycle counters disagree are found, and stamps of rings corrected") {
  if (!may_use_cpus_0_and_1()) SKIP("needs CPUs 0 and 1");
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  test::Child target({SJ_SUBJECT_UNEVEN_COUNTERS, "30"});
  REQUIRE(target.wait_for_output("ready"));
  // A CPU that is busy with something else may have no time for being measured.
  constexpr int kAttempts = 5;
  test::Ended recorded;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    recorded = test::run({SJ_UNEVEN_COUNTERS, "record", "-p", std::to_string(target.pid()),
                          "--engine", "ring", "--for", "2s", "-o", path});
    INFO(recorded.err);
    REQUIRE(recorded.exit_code == 0);
    if (!open_trace(path).capture().counter_offsets.empty()) break;
  }
  INFO(recorded.err);

  trace::Reader reader = open_trace(path);
  const model::Capture& capture = reader.capture();
  REQUIRE(capture.counters_corrected);
  REQUIRE_FALSE(capture.counter_offsets.empty());
  const model::CounterOffset& odd = capture.counter_offsets.front();
  CHECK(odd.cpu == 1);
  CHECK(odd.ahead_ns > 10'000'000);
  CHECK(odd.error_ns < 100'000);
  CHECK(recorded.err.find("CPU 1") != std::string::npos);

  const auto hits = hits_by_thread(reader);
  const auto error_ns = static_cast<std::int64_t>(capture.stamp_error_ns);
  CAPTURE(error_ns, capture.events_of_unknown_cpu, odd.ahead_ns, odd.error_ns);
  for (const char* const thread : {"even.in", "odd.in", "both.in"}) {
    CAPTURE(thread);
    const std::vector<Hit>& its = hits.at(thread);
    CHECK(median_late_ns(its) >= -100'000);
    CHECK(median_late_ns(its) < 100'000);
    CHECK(outside_of(its, error_ns) == 0);
  }
  // Stamps of threads that stay on one CPU are right within the measurement's error, whatever the
  // moving thread adds to the trace's error.
  for (const char* const thread : {"even.in", "odd.in"}) {
    CAPTURE(thread);
    CHECK(outside_of(hits.at(thread), 200'000) == 0);
  }
  // The moving thread's hits around its moves are the ones whose CPU is not known.
  CHECK(capture.events_of_unknown_cpu > 0);
  CHECK(capture.events_of_unknown_cpu < hits.at("both.in").size() / 2);
  CHECK(error_ns < odd.ahead_ns);

  const test::Ended checked = test::run({SJ_SOJOURN, "check", "--json", path});
  const auto counters = nlohmann::json::parse(checked.out).at("counters");
  CHECK(counters.at("corrected") == true);
  CHECK(counters.at("offsets").front().at("cpu") == 1);
  CHECK(counters.at("offsets").front().at("ahead_ns") == odd.ahead_ns);
  CHECK(counters.at("events_of_unknown_cpu") == capture.events_of_unknown_cpu);
}

TEST_CASE("if the counters agree stamps are not corrected") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  const Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--engine", "ring", "--for", "1s",
                "-o", path});
  const trace::Reader reader = open_trace(path);
  CHECK_FALSE(reader.capture().counters_corrected);
  CHECK(reader.capture().events_of_unknown_cpu == 0);
  for (const model::CounterOffset& each : reader.capture().counter_offsets)
    CHECK(static_cast<std::uint64_t>(std::abs(each.ahead_ns)) <= each.error_ns + 1);
}

}  // namespace
}  // namespace sojourn::live
