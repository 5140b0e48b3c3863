// Stacks as the kernel gives them, of this process's own code.
#include "userspace/capture/perf/perf_stacks.h"

#include <algorithm>
#include <span>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <linux/perf_event.h>
#include <unistd.h>

namespace sojourn::capture {
namespace {

constexpr auto kKernel = static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);
constexpr auto kUser = static_cast<std::uint64_t>(PERF_CONTEXT_USER);
constexpr std::uint64_t kKernelAddress = 0xffffffff81000100;

extern "C" [[gnu::noinline]] int sj_stack_leaf(int value) {
  return value + 1;
}
extern "C" [[gnu::noinline]] int sj_stack_caller(int value) {
  return value + 2;
}

std::uint64_t address_of(int (*function)(int)) {
  return reinterpret_cast<std::uint64_t>(function);
}

struct World {
  tracee::Process process = *tracee::Process::open(getpid());
  PerfStacks stacks{process};

  std::uint32_t number_of(std::vector<std::uint64_t> chain) {
    return stacks.number_of(std::as_bytes(std::span(chain)));
  }
};

TEST_CASE("equal stacks have one number, and are written once") {
  World world;
  const std::vector<std::uint64_t> chain = {kUser, address_of(sj_stack_leaf),
                                            address_of(sj_stack_caller) + 4};
  const std::uint32_t first = world.number_of(chain);
  CHECK(first == 1);
  CHECK(world.number_of(chain) == first);
  CHECK(world.number_of({kUser, address_of(sj_stack_leaf)}) == 2);
  const model::Profile news = world.stacks.news();
  CHECK(news.stacks.size() == 2);
  CHECK(news.frames.size() == 2);
  CHECK(news.stacks[0].frames.size() == 2);
  CHECK(news.frames[0].module.ends_with("unit-capture"));
  CHECK(world.stacks.news().empty());
}

TEST_CASE("an address from which a call returns is looked up where the call was") {
  World world;
  const std::uint64_t at = address_of(sj_stack_leaf);
  world.number_of({kUser, at, at + 5});
  const model::Profile news = world.stacks.news();
  REQUIRE(news.frames.size() == 2);
  CHECK(news.frames[1].address - news.frames[0].address == 4);
}

TEST_CASE("the kernel's part of a stack and the target's are distinguished") {
  World world;
  const std::uint32_t stack = world.number_of(
      {kKernel, kKernelAddress, kKernelAddress + 16, kUser, address_of(sj_stack_leaf)});
  CHECK(stack != 0);
  const model::Profile news = world.stacks.news();
  REQUIRE(news.frames.size() == 3);
  CHECK(news.frames[0].is_kernel);
  CHECK(news.frames[0].address == kKernelAddress);
  CHECK(news.frames[1].address == kKernelAddress + 15);
  CHECK(!news.frames[2].is_kernel);
}

TEST_CASE("a stack ends where its next address is no code") {
  World world;
  const int data = 0;
  world.number_of({kUser, address_of(sj_stack_leaf), reinterpret_cast<std::uint64_t>(&data),
                   address_of(sj_stack_caller)});
  const model::Profile news = world.stacks.news();
  REQUIRE(news.stacks.size() == 1);
  CHECK(news.stacks[0].frames.size() == 1);
  CHECK(world.number_of({}) == 0);
  CHECK(world.number_of({kUser, 8}) == 0);
}

TEST_CASE("names are found for all frames that have one") {
  World world;
  world.number_of({kUser, address_of(sj_stack_leaf), address_of(sj_stack_caller) + 4});
  bool has_leaf = false;
  for (const model::Profile& named : world.stacks.naming()())
    for (const model::Frame& frame : named.frames)
      has_leaf |= !frame.calls.empty() && frame.calls.back().function == "sj_stack_leaf";
  CHECK(has_leaf);
}

}  // namespace
}  // namespace sojourn::capture
