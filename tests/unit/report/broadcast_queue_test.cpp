#include "analysis/report/broadcast_queue.h"

#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/event.h"

namespace sojourn::report {
namespace {

model::EventBatch batch_of(std::uint64_t number) {
  model::EventBatch batch;
  batch.append({number, number, 0, 0, 0, {}});
  return batch;
}

TEST_CASE("everybody gets every batch, in order, however slow the others are") {
  constexpr std::uint64_t kMany = 500;
  BroadcastQueue<model::EventBatch> broadcast_queue(3);
  std::vector<std::vector<std::uint64_t>> got(3);
  {
    std::vector<std::jthread> readers;
    for (std::size_t reader = 0; reader < got.size(); ++reader)
      readers.emplace_back([&, reader] {
        while (const auto* batch = broadcast_queue.next(reader)) {
          got[reader].push_back(batch->ts_ns().front());
          for (std::size_t turn = 0; turn < reader; ++turn) std::this_thread::yield();
        }
      });
    for (std::uint64_t number = 0; number < kMany; ++number) {
      auto batch = batch_of(number);
      CHECK(broadcast_queue.put(batch));
    }
    broadcast_queue.end();
  }
  std::vector<std::uint64_t> all(kMany);
  for (std::uint64_t number = 0; number < kMany; ++number) all[number] = number;
  for (const auto& numbers : got) CHECK(numbers == all);
  CHECK_FALSE(broadcast_queue.stopped());
}

TEST_CASE("who stops it ends it for the writer and for all others") {
  BroadcastQueue<model::EventBatch> broadcast_queue(2);
  bool refused = false;
  std::uint64_t others = 0;
  {
    const std::jthread writer([&] {
      auto batch = batch_of(1);
      while (broadcast_queue.put(batch)) batch = batch_of(1);
      refused = true;
    });
    const std::jthread other([&] {
      while (broadcast_queue.next(1) != nullptr) ++others;
    });
    for (int number = 0; number < 20; ++number) REQUIRE(broadcast_queue.next(0) != nullptr);
    broadcast_queue.stop();
    CHECK(broadcast_queue.next(0) == nullptr);
  }
  CHECK(refused);
  // The writer waits for the slowest.
  CHECK(others < 20 + 2 * BroadcastQueue<model::EventBatch>::kBatches);
}

TEST_CASE("what was put before the end is there after it") {
  BroadcastQueue<model::EventBatch> broadcast_queue(1);
  for (const std::uint64_t number : {7, 8}) {
    auto batch = batch_of(number);
    CHECK(broadcast_queue.put(batch));
  }
  broadcast_queue.end();
  REQUIRE(broadcast_queue.next(0) != nullptr);
  const auto* second = broadcast_queue.next(0);
  REQUIRE(second != nullptr);
  CHECK(second->ts_ns().front() == 8);
  CHECK(broadcast_queue.next(0) == nullptr);
  CHECK(broadcast_queue.next(0) == nullptr);
}

}  // namespace
}  // namespace sojourn::report
