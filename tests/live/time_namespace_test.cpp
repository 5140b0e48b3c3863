// A target in a time name space, whose clocks differ from the host's: both engines use the host's
// clock.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <time.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

constexpr std::uint64_t kAheadS = 1'000'000;

std::uint64_t host_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The subject's round, which grows by one with each, of the events of one point.
std::map<std::uint64_t, std::uint64_t> times_by_round(trace::Reader& reader) {
  const auto& points = reader.schema().points;
  const auto point = std::ranges::find(points, "many.s100", &model::Point::src);
  REQUIRE(point != points.end());
  std::map<std::uint64_t, std::uint64_t> times;
  REQUIRE(reader.merge([&](const model::EventBatch& events) {
    for (std::size_t row = 0; row < events.size(); ++row)
      if (events[row].point == point - points.begin())
        times[events[row].values.front()] = events[row].ts_ns;
    return true;
  }));
  return times;
}

TEST_CASE("a target in a time namespace has the same times by both engines, the host's") {
  need_root();
  if (test::run({"unshare", "--time", "--monotonic", "1", "--fork", "true"}).exit_code != 0)
    SKIP("this kernel has no time namespaces, or unshare knows none");
  test::Child outside({"unshare", "--time", "--monotonic", std::to_string(kAheadS), "--fork",
                       "--kill-child", SJ_SUBJECT_MANY_SITES, "1000000", "500"});
  REQUIRE(outside.wait_for_output("ready"));
  const std::string outer = std::to_string(outside.pid());
  const std::string pid =
      std::to_string(std::stoi(test::contents("/proc/" + outer + "/task/" + outer + "/children")));
  const std::string offsets = test::contents("/proc/" + pid + "/timens_offsets");
  REQUIRE(offsets.contains(std::to_string(kAheadS)));

  const test::TemporaryDirectory directory;
  const auto record = [&](const std::string& engine) {
    return std::vector<std::string>{
        SJ_SOJOURN, "record", "-p",    pid,  "--engine", engine,
        "--budget", "none",   "--for", "1s", "-o",       directory.path(engine + ".sjt")};
  };
  // Both at once, so that they see the same hits.
  const std::uint64_t before = host_now_ns();
  test::Child by_bpf(record("bpf"));
  test::Child by_ring(record("ring"));
  const test::Ended bpf_ended = by_bpf.wait();
  const test::Ended ring_ended = by_ring.wait();
  const std::uint64_t after = host_now_ns();
  INFO(bpf_ended.err << ring_ended.err);
  REQUIRE(bpf_ended.exit_code == 0);
  REQUIRE(ring_ended.exit_code == 0);

  trace::Reader bpf = open_trace(directory.path("bpf.sjt"));
  trace::Reader ring = open_trace(directory.path("ring.sjt"));
  const auto of_bpf = times_by_round(bpf);
  const auto of_ring = times_by_round(ring);
  std::vector<std::uint64_t> apart;
  for (const auto& [round, ns] : of_ring) {
    CHECK(ns > before);
    CHECK(ns < after);
    const auto same = of_bpf.find(round);
    if (same == of_bpf.end()) continue;
    apart.push_back(ns > same->second ? ns - same->second : same->second - ns);
  }
  for (const auto& [round, ns] : of_bpf) {
    CHECK(ns > before);
    CHECK(ns < after);
  }
  // The two stamps of one hit are some instructions apart, and more if the thread lost its CPU
  // between.
  REQUIRE(apart.size() > 100);
  std::ranges::sort(apart);
  CAPTURE(apart[apart.size() / 2], apart.back());
  CHECK(apart[apart.size() / 2] < 20'000);
}

}  // namespace
}  // namespace sojourn::live
