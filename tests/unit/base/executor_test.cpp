// The guarantees of a pipeline to its workers, in one thread and in several.
#include "analysis/base/executor.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "userspace/base/thread_executor.h"

namespace sojourn {
namespace {

constexpr std::uint64_t kMany = 500;
using Items = std::array<std::uint64_t, Executor::kSlots>;
using Numbers = std::vector<std::uint64_t>;

Numbers numbers(std::uint64_t count) {
  Numbers all(count);
  for (std::uint64_t number = 0; number < count; ++number) all[number] = number;
  return all;
}

// Puts `count` numbers, and counts in `taken` those that were taken.
void put_numbers(Items& items, std::uint64_t count, std::uint64_t& taken,
                 const Pipeline::Put& put) {
  for (std::uint64_t number = 0; number < count; ++number) {
    if (!put([&](Pipeline::Slot slot) { items[slot] = number; })) return;
    ++taken;
  }
}

template <typename Check>
void with_each(Check check) {
  SECTION("in the caller") {
    PlainExecutor plain;
    check(plain);
  }
  SECTION("in threads") {
    base::ThreadExecutor threads;
    check(threads);
  }
}

TEST_CASE("every worker and then the caller gets every item, in order, however slow others are") {
  with_each([](Executor& executor) {
    for (const std::size_t workers : {0, 1, 3}) {
      CAPTURE(workers);
      Items items{};
      std::vector<Numbers> got(workers);
      Numbers finished;
      std::uint64_t taken = 0;
      bool in_order = true;
      Pipeline pipeline;
      pipeline.make = [&](const Pipeline::Put& put) { put_numbers(items, kMany, taken, put); };
      std::vector<std::atomic<std::uint64_t>> done(workers);
      for (std::size_t who = 0; who < workers; ++who)
        pipeline.workers.emplace_back([&, who](Pipeline::Slot slot) {
          got[who].push_back(items[slot]);
          for (std::size_t turn = 0; turn < who; ++turn) std::this_thread::yield();
          ++done[who];
        });
      pipeline.finish = [&](Pipeline::Slot slot) {
        finished.push_back(items[slot]);
        for (const auto& each : done) in_order = in_order && each >= finished.size();
        return true;
      };
      executor.run(pipeline);
      CHECK(taken == kMany);
      CHECK(finished == numbers(kMany));
      CHECK(in_order);
      for (const Numbers& each : got) CHECK(each == numbers(kMany));
    }
  });
}

TEST_CASE("the caller stops the maker and all workers, which are few items ahead of it") {
  with_each([](Executor& executor) {
    constexpr std::uint64_t kEnough = 20;
    Items items{};
    std::uint64_t finished = 0;
    std::uint64_t taken = 0;
    std::uint64_t worked = 0;
    Pipeline pipeline;
    pipeline.make = [&](const Pipeline::Put& put) { put_numbers(items, UINT64_MAX, taken, put); };
    pipeline.workers.emplace_back([&](Pipeline::Slot) { ++worked; });
    pipeline.finish = [&](Pipeline::Slot) { return ++finished < kEnough; };
    executor.run(pipeline);
    CHECK(finished == kEnough);
    CHECK(worked >= kEnough);
    CHECK(worked <= kEnough + Executor::kSlots);
    CHECK(taken <= kEnough + Executor::kSlots);
  });
}

TEST_CASE("no items, no work") {
  with_each([](Executor& executor) {
    bool called = false;
    Pipeline pipeline;
    pipeline.make = [](const Pipeline::Put&) {};
    pipeline.workers.emplace_back([&](Pipeline::Slot) { called = true; });
    pipeline.finish = [&](Pipeline::Slot) { return called = true; };
    executor.run(pipeline);
    CHECK_FALSE(called);
  });
}

TEST_CASE("an exception in one thread ends all others, and is thrown to the caller") {
  enum class Who : std::uint8_t { kMaker, kWorker, kCaller };
  with_each([](Executor& executor) {
    for (const auto who : {Who::kMaker, Who::kWorker, Who::kCaller}) {
      Items items{};
      std::uint64_t taken = 0;
      const auto fail_as = [&](Who one, std::uint64_t number) {
        if (one == who && number == 30) throw std::runtime_error("no space");
      };
      Pipeline pipeline;
      pipeline.make = [&](const Pipeline::Put& put) {
        if (who == Who::kMaker) {
          put_numbers(items, 30, taken, put);
          fail_as(Who::kMaker, 30);
        }
        put_numbers(items, UINT64_MAX, taken, put);
      };
      pipeline.workers.emplace_back([](Pipeline::Slot) {});
      pipeline.workers.emplace_back(
          [&](Pipeline::Slot slot) { fail_as(Who::kWorker, items[slot]); });
      pipeline.finish = [&](Pipeline::Slot slot) {
        fail_as(Who::kCaller, items[slot]);
        return true;
      };
      CHECK_THROWS_AS(executor.run(pipeline), std::runtime_error);
    }
  });
}

}  // namespace
}  // namespace sojourn
