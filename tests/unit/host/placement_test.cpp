// The choice of the CPUs to measure on.
#include "userspace/host/placement.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::host {
namespace {

TEST_CASE("the last CPU is home, and its partner the next one on another core") {
  const CpuLayout layout{
      .online = {0, 1, 2, 3}, .siblings = {{0, 1}, {0, 1}, {2, 3}, {2, 3}}, .isolated = {}};
  const CpuChoice choice = choose_cpus(layout, {0, 1, 2, 3});
  CHECK(choice.home == 3);
  CHECK(choice.partner == 1U);
}

TEST_CASE("if all other CPUs are threads of the same core, one of them is used") {
  const CpuLayout layout{.online = {0, 1}, .siblings = {{0, 1}, {0, 1}}, .isolated = {}};
  CHECK(choose_cpus(layout, {0, 1}).partner == 0U);
}

TEST_CASE("isolated CPUs come first") {
  const CpuLayout layout{
      .online = {0, 1, 2, 3}, .siblings = {{0}, {1}, {2}, {3}}, .isolated = {0, 1}};
  const CpuChoice choice = choose_cpus(layout, {0, 1, 2, 3});
  CHECK(choice.home == 1);
  CHECK(choice.partner == 0U);
}

TEST_CASE("one CPU has no partner, and only allowed ones are taken") {
  const CpuLayout layout{.online = {0, 1, 2}, .siblings = {{0}, {1}, {2}}, .isolated = {2}};
  CHECK_FALSE(choose_cpus(layout, {1}).partner);
  CHECK(choose_cpus(layout, {1}).home == 1);
  CHECK(choose_cpus(layout, {0, 1}).home == 1);
  CHECK(choose_cpus({}, {}).home == 0);
}

TEST_CASE("the affinity of before comes back") {
  cpu_set_t before;
  sched_getaffinity(0, sizeof(before), &before);
  {
    const Placement placement(read_layout({}), false);
    cpu_set_t during;
    sched_getaffinity(0, sizeof(during), &during);
    CHECK(CPU_COUNT(&during) == 1);
    CHECK(CPU_ISSET(placement.home(), &during));
  }
  cpu_set_t after;
  sched_getaffinity(0, sizeof(after), &after);
  CHECK(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace sojourn::host
