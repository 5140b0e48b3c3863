// Work on a thread of its own; also run under TSan.
#include "userspace/base/worker_thread.h"

#include <atomic>
#include <memory>
#include <semaphore>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::base {
namespace {

TEST_CASE("all that was added is done in order, by one other thread, before a worker is gone") {
  std::vector<int> done;
  std::thread::id worker;
  {
    WorkerThread<int> thread([&](const int& number) {
      worker = std::this_thread::get_id();
      done.push_back(number);
      return true;
    });
    for (int number = 0; number < 1000; ++number) thread.add(number);
  }
  CHECK(worker != std::this_thread::get_id());
  REQUIRE(done.size() == 1000);
  for (int number = 0; number < 1000; ++number)
    CHECK(done[static_cast<std::size_t>(number)] == number);
}

TEST_CASE("many threads may add work, and none of it is lost") {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  int done = 0;
  {
    WorkerThread<int> thread([&](const int& number) {
      done += number;
      return true;
    });
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (int number = 0; number < kEach; ++number) thread.add(1);
      });
    threads.clear();
  }
  CHECK(done == kThreads * kEach);
}

TEST_CASE("a worker begins before its maker goes on, and does nothing where that failed") {
  int done = 0;
  bool has_begun = false;
  WorkerThread<int> thread([&](const int&) { return ++done != 0; },
                           [&] { return !(has_begun = true); });
  CHECK(has_begun);
  thread.add(1);
  thread.end();
  CHECK(done == 0);
}

TEST_CASE("work that fails ends the thread: waiting and later work is discarded") {
  const auto shared = std::make_shared<int>();
  std::counting_semaphore<2> go(0);
  int done = 0;
  WorkerThread<std::shared_ptr<int>> thread([&](const std::shared_ptr<int>&) {
    go.acquire();
    return ++done < 2;
  });
  for (int i = 0; i < 5; ++i) thread.add(shared);
  go.release();
  go.release();
  while (shared.use_count() > 1) std::this_thread::yield();
  thread.add(shared);
  CHECK(shared.use_count() == 1);
  thread.end();
  CHECK(done == 2);
}

TEST_CASE("waiting work can be looked at and taken back") {
  std::counting_semaphore<2> go(0);
  std::binary_semaphore taken(0);
  std::vector<int> done;
  WorkerThread<int> thread([&](const int& number) {
    taken.release();
    go.acquire();
    done.push_back(number);
    return true;
  });
  thread.add(1);
  taken.acquire();
  thread.add(2);
  thread.add(3);
  CHECK(thread.with_waiting([](std::deque<int>& waiting) {
    waiting.pop_front();
    return waiting.size();
  }) == 1);
  go.release();
  go.release();
  thread.end();
  CHECK(done == std::vector<int>{1, 3});
}

}  // namespace
}  // namespace sojourn::base
