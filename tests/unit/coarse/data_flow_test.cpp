// Guesses about functions that get the same addresses.
#include "userspace/coarse/suggest/data_flow.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::coarse {
namespace {

constexpr std::uint64_t kQueue = 0x5555'0000'1000;
constexpr std::uint64_t kBuffers = 0x7fff'0000'2000;

// Buffers of a pool, used in turn.
std::uint64_t buffer(std::uint64_t number, std::uint64_t pool = 5) {
  return kBuffers + number % pool * 0x100;
}

class Calls {
 public:
  void call(std::size_t function, std::array<std::uint64_t, kWatched.size()> values,
            std::uint64_t later_ns = 100) {
    now_ns_ += later_ns;
    all_.push_back({.ts_ns = now_ns_, .function = function, .values = values});
  }
  std::vector<std::optional<DataFlowStep>> found(std::size_t functions) const {
    return find_data_flow(all_, functions);
  }

 private:
  std::uint64_t now_ns_ = 0;
  std::vector<WatchedCall> all_;
};

TEST_CASE("what is put into a queue and handled behind it is the same thing") {
  Calls calls;
  for (std::uint64_t number = 0; number < 40; ++number) {
    calls.call(0, {kQueue, buffer(number), number, 0}, 10'000);
    calls.call(1, {buffer(number), 7, 0, 0});
    calls.call(2, {kQueue, 3, buffer(number), 0});
  }
  const auto found = calls.found(4);
  REQUIRE(found[0]);
  CHECK(found[0]->watched == 1);
  CHECK_FALSE(found[0]->from);  // although buffers are used again
  REQUIRE(found[1]);
  CHECK(found[1]->watched == 0);
  CHECK(found[1]->from == 0);
  CHECK(found[1]->share == 1);
  REQUIRE(found[2]);
  CHECK(found[2]->watched == 2);
  CHECK(found[2]->from == 1);
  CHECK_FALSE(found[3]);
}

TEST_CASE("an object whose methods are called is not passed on") {
  Calls calls;
  for (std::uint64_t number = 0; number < 40; ++number) {
    calls.call(0, {kQueue, number, 0, 0});
    calls.call(1, {kQueue, number, 0, 0});
  }
  for (const auto& one : calls.found(2)) CHECK_FALSE(one);
}

TEST_CASE("of several objects that each hold packets, the packets are the units") {
  Calls calls;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const std::uint64_t bearer = kQueue + number % 6 * 0x40;
    calls.call(0, {bearer, buffer(number), 0, 0}, 5'000);
    calls.call(1, {bearer, 0, buffer(number), 0});
  }
  const auto found = calls.found(2);
  REQUIRE(found[1]);
  CHECK(found[1]->watched == 2);
  REQUIRE(found[0]);
  CHECK(found[0]->watched == 1);
}

TEST_CASE("what seldom holds, and small numbers, are not believed") {
  Calls calls;
  for (std::uint64_t number = 0; number < 60; ++number) {
    calls.call(0, {buffer(number, 50), number * 8, 0, 0});
    calls.call(1, {number % 3 == 0 ? buffer(number, 50) : kQueue + number * 64, number * 8, 0, 0});
  }
  for (const auto& one : calls.found(2)) CHECK_FALSE(one);
  CHECK(find_data_flow({}, 3).size() == 3);
}

TEST_CASE("an item that is taken off a list's head is the one that was put there") {
  Calls calls;
  for (std::uint64_t round = 0; round < 20; ++round) {
    // The function has no such argument: the register still has a value from the call before.
    for (std::uint64_t at = 0; at < 4; ++at)
      calls.call(0, {kQueue, buffer(at), 0, at == 0 ? 0 : buffer(at - 1), 0});
    // A wait that is longer than the time until an address is used again means nothing.
    for (std::uint64_t at = 0; at < 4; ++at)
      calls.call(1, {kQueue, 0, 0, 0, buffer(at)}, at == 0 ? 50'000 : 100);
    calls.call(1, {kQueue, 0, 0, 0, 0});  // in vain
  }
  const auto found = calls.found(2);
  REQUIRE(found[1]);
  CHECK(found[1]->watched == kWatchedHead);
  CHECK(found[1]->from == 0);
  REQUIRE(found[0]);
  CHECK(found[0]->watched == 1);
}

TEST_CASE("leftover values in registers are not taken for arguments") {
  Calls calls;
  for (std::uint64_t round = 0; round < 20; ++round) {
    for (std::uint64_t at = 0; at < 3; ++at) calls.call(0, {kQueue, buffer(at), 0, 0, 0});
    // The one below the top is in a register already when the top is taken.
    for (std::uint64_t at = 3; at-- > 0;)
      calls.call(1, {kQueue, 0, at == 2 ? 0 : buffer(at), at == 0 ? 0 : buffer(at - 1), buffer(at)},
                 at == 2 ? 50'000 : 100);
    calls.call(1, {kQueue, 0, 0, 0, 0});
  }
  const auto found = calls.found(2);
  REQUIRE(found[1]);
  CHECK(found[1]->watched == kWatchedHead);
  CHECK(found[1]->from == 0);
}

// A pool gives out again what came back last: the copy's memory is the unit's before.
TEST_CASE("a copy is not the earlier unit whose memory it has") {
  constexpr std::uint64_t kStack = 0x7ffc'0001'0000;
  const auto seen_with = [&](std::uint64_t stack_of_second) {
    std::vector<WatchedCall> calls;
    for (std::uint64_t number = 1; number < 60; ++number) {
      calls.push_back({.ts_ns = number * 1000,
                       .function = 0,
                       .values = {kQueue, buffer(number)},
                       .tid = 1,
                       .stack = kStack});
      calls.push_back({.ts_ns = number * 1000 + 100,
                       .function = 1,
                       .values = {kQueue, buffer(number - 1)},
                       .tid = 1,
                       .stack = stack_of_second});
    }
    return find_data_flow(calls, 2);
  };
  CHECK_FALSE(seen_with(kStack - 0x100)[1]);  // called within the other's next call
  const auto behind = seen_with(kStack + 0x100);
  REQUIRE(behind[1]);
  CHECK(behind[1]->from == 0);  // a queue in which one waits
}

TEST_CASE("a way may fork, and each end knows where its things came from") {
  Calls calls;
  for (std::uint64_t number = 0; number < 60; ++number) {
    calls.call(0, {kQueue, buffer(number), 0, 0}, 20'000);
    calls.call(number % 2 == 0 ? 1 : 2, {buffer(number), 0, 0, 0});
  }
  const auto found = calls.found(3);
  REQUIRE(found[1]);
  CHECK(found[1]->from == 0);
  REQUIRE(found[2]);
  CHECK(found[2]->from == 0);
}

// As C++ gives away a buffer: its handle lies on the caller's stack, at the same address each time.
TEST_CASE("a unit is known by what its handle holds, wherever the handle is") {
  constexpr std::uint64_t kStack = 0x7ffc'0000'1000;
  Calls calls;
  for (std::uint64_t number = 0; number < 40; ++number) {
    calls.call(0, {kQueue, kStack, 0, 0, 0, buffer(number), 0, 0}, 10'000);
    // Behind a number, in what is handed on from there.
    calls.call(1, {kQueue + 0x100, kStack + 0x40, 0, 0, 0, number, buffer(number), 0});
    calls.call(2, {kQueue + 0x200, kStack + 0x80, 0, 0, 0, 0, buffer(number), 0});
  }
  const auto found = calls.found(3);
  REQUIRE(found[0]);
  CHECK(kWatched.at(found[0]->watched) == "*(u64*)arg1");
  CHECK_FALSE(found[0]->from);
  REQUIRE(found[1]);
  CHECK(kWatched.at(found[1]->watched) == "*(u64*)(arg1 + 8)");
  CHECK(found[1]->from == 0);
  REQUIRE(found[2]);
  CHECK(found[2]->from == 1);
}

}  // namespace
}  // namespace sojourn::coarse
