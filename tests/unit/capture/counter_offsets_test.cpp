// Offsets of this machine's cycle counters. They agree, if the machine says that they are steady.
#include "userspace/capture/records/counter_offsets.h"

#include <cstddef>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <sched.h>

#include "userspace/tracee/host.h"

namespace sojourn::capture {
namespace {

TEST_CASE("each CPU's counter is compared with the first one's, and CPUs are as before") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  if (CPU_COUNT(&before) < 2) SKIP("needs two CPUs");
  const auto care = GENERATE(CounterCare::kThorough, CounterCare::kBrief);
  const CounterOffsets found = measure_counter_offsets(care);
  cpu_set_t after;
  REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  CAPTURE(found.why_not);
  // If all CPUs are busy, none may answer within the brief time.
  if (care == CounterCare::kThorough) REQUIRE(!found.others.empty());
  CHECK(found.others.size() + found.silent + 1 == static_cast<std::size_t>(CPU_COUNT(&before)));
  for (const CounterOffset& each : found.others) {
    CAPTURE(each.cpu, each.ns, each.ticks, each.error_ns);
    CHECK(each.error_ns > 0);
    CHECK((each.ns < 0) == (each.ticks < 0));
    CHECK(CPU_ISSET(each.cpu, &before));
    if (tracee::has_steady_counter()) CHECK_FALSE(each.is_apart());
  }
}

TEST_CASE("on one CPU nothing is compared, and the reason is given") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  const CounterOffsets found = measure_counter_offsets();
  sched_setaffinity(0, sizeof(before), &before);
  CHECK(found.others.empty());
  CHECK(found.why_not == "this process may use one CPU only");
}

TEST_CASE("a CPU whose thread lost it in every round trip counts as silent") {
  CounterOffsets found = {
      .others = {{.cpu = 1, .ns = 5, .error_ns = 90}, {.cpu = 2, .ns = -3e7, .error_ns = 7.1e7}},
      .silent = 1,
      .why_not = {}};
  found.leave_out_disturbed();
  REQUIRE(found.others.size() == 1);
  CHECK(found.others.front().cpu == 1);
  CHECK(found.silent == 2);
}

TEST_CASE("an offset counts if it is larger than the error of the shortest round trip") {
  CHECK_FALSE(CounterOffset{.cpu = 1, .ns = -80, .error_ns = 90}.is_apart());
  CHECK(CounterOffset{.cpu = 1, .ns = -95, .error_ns = 90}.is_apart());
  CHECK(CounterOffset{.cpu = 1, .ns = 95, .error_ns = 90}.is_apart());
}

}  // namespace
}  // namespace sojourn::capture
