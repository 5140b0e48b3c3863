// Real-time threads that leave a CPU to others, and those that do not.
#include "userspace/tracee/real_time.h"

#include <array>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

namespace sojourn::tracee {
namespace {

RealTimeThread on(std::vector<std::size_t> cpus) {
  return {.tid = 1, .name = "x", .policy = 1, .priority = 1, .cpus = std::move(cpus)};
}

TEST_CASE("all CPUs can be taken when each can have a thread of its own") {
  const std::array<std::size_t, 3> cpus = {0, 1, 2};
  CHECK(can_take_all(cpus, std::array{on({0, 1, 2}), on({0, 1, 2}), on({0, 1, 2})}));
  CHECK(can_take_all(cpus, std::array{on({0, 1}), on({0}), on({1, 2})}));
  CHECK(can_take_all(cpus, std::array{on({0, 1}), on({0, 2}), on({0}), on({7})}));
  CHECK_FALSE(can_take_all(cpus, std::array{on({0, 1, 2}), on({0, 1, 2})}));
  CHECK_FALSE(can_take_all(cpus, std::array{on({0}), on({1}), on({0, 1}), on({1, 0})}));
  CHECK_FALSE(can_take_all(cpus, std::array<RealTimeThread, 0>{}));
  CHECK_FALSE(can_take_all({}, std::array{on({0})}));
}

TEST_CASE("a process without real-time threads takes no CPU from others") {
  CHECK_FALSE(find_starvation(std::array{getpid()}, std::chrono::milliseconds(1)));
  CHECK_FALSE(find_starvation(std::array{pid_t{0x3fffffff}}, std::chrono::milliseconds(1)));
}

TEST_CASE("a real-time thread is shown with its name and priority") {
  CHECK(on({0}).title() == "x (FIFO 1)");
}

}  // namespace
}  // namespace sojourn::tracee
