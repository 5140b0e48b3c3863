// The report on disturbances during a measurement.
#include "userspace/host/disturbance.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::host {
namespace {

StatReading reading(std::uint64_t user, std::uint64_t idle, std::uint64_t steal) {
  const std::string line = std::to_string(user) + " 0 0 " + std::to_string(idle) + " 0 0 0 " +
                           std::to_string(steal) + " 0 0\n";
  return parse_stat_file("cpu  " + line + "cpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 " + line + "intr 5\n",
                         1);
}

TEST_CASE("a quiet machine has no disturbance") {
  CHECK(disturbances(reading(100, 100, 0), reading(150, 150, 0), 50).empty());
}

TEST_CASE("steal and other processes are reported from a minimum on") {
  const auto found = disturbances(reading(0, 0, 0), reading(600, 370, 30), 300);
  REQUIRE(found.size() == 2);
  CHECK(found[0] == "the hypervisor took 3.0 % of the CPUs' time (steal)");
  CHECK(found[1] == "other processes took 30 % of the CPUs' time");
}

TEST_CASE("counters that go backwards stand still") {
  CHECK(disturbances(reading(100, 100, 90), reading(150, 150, 10), 50).empty());
  CHECK(disturbances(reading(100, 100, 0), reading(90, 90, 0), 0).empty());
}

TEST_CASE("an invalid file is reported, not read") {
  for (const char* text :
       {"", "cpu  1 2 3\ncpu1 1 2 3\n", "cpu  a b c d e f g h\n", "cpu  1 2 3 4 5 6 7 8\n"}) {
    const StatReading broken = parse_stat_file(text, 1);
    CHECK_FALSE(broken.is_told);
    const auto found = disturbances(broken, reading(1, 1, 1), 0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].contains("not told"));
  }
}

TEST_CASE("a changed frequency is reported in MHz") {
  CHECK(frequency_change(0.25, 0.25).empty());
  CHECK(frequency_change(0.25, 0.2525).empty());
  CHECK(frequency_change(0.25, 0.5) ==
        "the frequency changed: 4000 MHz at the begin, 2000 MHz at the end");
  CHECK(frequency_change(0, 0.5).empty());
}

}  // namespace
}  // namespace sojourn::host
