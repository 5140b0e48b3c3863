#include "userspace/capture/rings/thread_cpu.h"

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <sched.h>
#include <unistd.h>

namespace sojourn::capture {
namespace {

// The thread's name contains everything that could be taken for its end. Field 22 is 777, field 39
// is 3.
const std::string kStat =
    "4242 (a) R 1 (b) S 1 4242 4242 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 2 0 777 10 11 "
    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n";
const std::string kSched =
    "gnb (4242, #threads: 2)\n"
    "-------------------------------------------------------------------\n"
    "se.exec_start                                :     237812345.123456\n"
    "se.nr_migrations                             :                   12\n"
    "nr_switches                                  :                  345\n";

TEST_CASE("place, moves and birth of a thread are read from /proc") {
  const auto look = cpu_look(kStat, kSched);
  REQUIRE(look);
  CHECK(look->cpu == 3);
  CHECK(look->moves == 12);
  CHECK(look->born == 777);
  CHECK_FALSE(cpu_look("", kSched));
  CHECK_FALSE(cpu_look(kStat.substr(0, 60), kSched));
  CHECK_FALSE(cpu_look(kStat, ""));
  CHECK_FALSE(cpu_look(kStat, "x\nse.nr_migrations : many\n"));
}

TEST_CASE(
    "a thread that did not move between two looks was on its present CPU, else it is not known") {
  const CpuLook before{.cpu = 1, .moves = 4, .born = 777};
  CHECK(cpu_between(before, {.cpu = 1, .moves = 4, .born = 777}) == 1);
  // The thread has moved away and back.
  CHECK(cpu_between(before, {.cpu = 1, .moves = 6, .born = 777}) == -1);
  // Another thread of that number.
  CHECK(cpu_between(before, {.cpu = 1, .moves = 4, .born = 778}) == -1);
  // Since its birth.
  CHECK(cpu_between(CpuLook(), {.cpu = 2, .moves = 0, .born = 777}) == 2);
  CHECK(cpu_between(CpuLook(), {.cpu = 2, .moves = 1, .born = 777}) == -1);
}

TEST_CASE("this thread is seen to move from CPU to CPU") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  if (CPU_COUNT(&before) < 2) SKIP("needs two CPUs");
  int cpus = 0;
  std::optional<CpuLook> last;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus < 2; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    ++cpus;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
    const auto look = look_at_cpu(getpid(), gettid());
    REQUIRE(look);
    CHECK(look->cpu == cpu);
    CHECK(look->born > 0);
    if (last) CHECK(cpu_between(*last, *look) == -1);
    const auto again = look_at_cpu(getpid(), gettid());
    REQUIRE(again);
    CHECK(cpu_between(*look, *again) == cpu);
    last = again;
  }
  sched_setaffinity(0, sizeof(before), &before);
}

TEST_CASE("a thread that is gone is nowhere") {
  CHECK_FALSE(look_at_cpu(getpid(), 0));
}

}  // namespace
}  // namespace sojourn::capture
