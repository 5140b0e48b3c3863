// Counted<> around real queues and around stand-ins for the interfaces that people write.
#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <queue>
#include <stack>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <catch2/catch_test_macros.hpp>
#include <concurrentqueue/concurrentqueue.h>
#include <oneapi/tbb/concurrent_queue.h>
#include <sojourn/queue.hpp>
#include <unistd.h>

#include "tests/support/arena_view.h"

namespace sojourn {
namespace {

using test::ArenaView;

struct Counts {
  std::uint64_t in, out;
  bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.in << " in, " << counts.out << " out";
}

template <typename Queue>
Counts counts(Queue& queue) {
  const sj_queue* const slot = queue.counter().queue();
  return {slot->in, slot->out};
}

struct Packet {
  int sn;
  std::unique_ptr<int> payload;
};

TEST_CASE("a deque counts what goes in and out, and is registered while it lives") {
  const ArenaView view(getpid());
  {
    Counted<std::deque<Packet>> queue{{.name = "deque", .capacity = 8}};
    queue.push_back({1, std::make_unique<int>(7)});  // a braced list
    Packet packet{2, nullptr};
    queue.push_back(std::move(packet));
    CHECK(queue.emplace_front(3, nullptr).sn == 3);
    CHECK(counts(queue) == Counts{3, 0});
    queue.pop_front();
    CHECK(*queue.front().payload == 7);
    queue.pop_back();
    CHECK(counts(queue) == Counts{3, 2});
    CHECK(queue.size() == 1);

    const auto seen = view.one("deque");
    CHECK(seen.capacity == 8);
    CHECK(seen.counts.in == 3);
    CHECK(seen.counts.out == 2);
    CHECK(seen.address == reinterpret_cast<std::uintptr_t>(&queue));
    CHECK(queue.counter().describe({.consumer = {"mac", 0}}));
    CHECK(view.one("deque").consumer.stage == "mac");
  }
  CHECK(view.named("deque").empty());
}

TEST_CASE("a change of a container by many items is counted by its size") {
  Counted<std::deque<int>> queue{{.name = "many"}, std::size_t{3}, 0};
  CHECK(counts(queue) == Counts{3, 0});
  const int three[] = {4, 5, 6};
  queue.insert(queue.end(), std::begin(three), std::end(three));
  CHECK(counts(queue) == Counts{6, 0});
  queue.erase(queue.begin() + 1);
  CHECK(counts(queue) == Counts{6, 1});
  queue.resize(9);
  CHECK(counts(queue) == Counts{10, 1});
  std::deque<int> other = {1, 2};
  queue.swap(other);
  CHECK(counts(queue) == Counts{10, 8});
  queue.clear();
  CHECK(counts(queue) == Counts{10, 10});

  Counted<std::list<int>> list{{.name = "list"}};
  std::list<int> four = {1, 2, 3, 4};
  list.splice(list.end(), four);
  list.remove_if([](int value) { return value % 2 == 0; });
  CHECK(counts(list) == Counts{4, 2});
}

TEST_CASE("the adapters of the standard library count") {
  Counted<std::queue<int>> queue{{.name = "queue"}};
  queue.push(1);
  queue.emplace(2);
  queue.pop();
  CHECK(counts(queue) == Counts{2, 1});

  Counted<std::priority_queue<int>> heap{{.name = "heap"}};
  heap.push(1);
  heap.push(5);
  heap.pop();
  CHECK(heap.top() == 1);
  CHECK(counts(heap) == Counts{2, 1});

  Counted<std::stack<int>> pool{{.name = "pool", .kind = SJ_QUEUE_POOL}};
  pool.push(1);
  CHECK(counts(pool) == Counts{1, 0});
}

TEST_CASE("a push that throws counts nothing") {
  struct Throws {
    Throws() = default;
    Throws(const Throws&) { throw std::runtime_error("no copy"); }
  };
  Counted<std::deque<Throws>> queue{{.name = "throws"}};
  const Throws one;
  CHECK_THROWS(queue.push_back(one));
  CHECK(counts(queue) == Counts{0, 0});
}

TEST_CASE("boost's lock-free queues count only accepted items") {
  Counted<boost::lockfree::queue<int, boost::lockfree::fixed_sized<true>>> queue{
      {.name = "lockfree"}, std::size_t{2}};
  int pushed = 0;
  while (queue.push(pushed)) ++pushed;
  CHECK(counts(queue) == Counts{static_cast<std::uint64_t>(pushed), 0});
  int item = -1;
  CHECK(queue.pop(item));
  CHECK(item == 0);
  CHECK(queue.consume_all([](int) {}) == static_cast<std::size_t>(pushed - 1));
  CHECK_FALSE(queue.pop(item));
  CHECK(counts(queue).out == static_cast<std::uint64_t>(pushed));

  Counted<boost::lockfree::spsc_queue<int>> single{{.name = "spsc"}, std::size_t{4}};
  const int five[] = {1, 2, 3, 4, 5};
  CHECK(single.push(five, 5) == 4);
  CHECK_FALSE(single.push(6));
  int out[8] = {};
  CHECK(single.pop(out, 3) == 3);
  CHECK(counts(single) == Counts{4, 3});
}

TEST_CASE("moodycamel's queue counts one by one and in bulk") {
  Counted<moodycamel::ConcurrentQueue<std::string>> queue{{.name = "moody"}, std::size_t{64}};
  CHECK(queue.enqueue("one"));
  CHECK(queue.try_enqueue(std::string("two")));
  const std::string three[] = {"3", "4", "5"};
  CHECK(queue.enqueue_bulk(three, 3));
  CHECK(counts(queue) == Counts{5, 0});
  std::string item;
  CHECK(queue.try_dequeue(item));
  std::string items[8];
  CHECK(queue.try_dequeue_bulk(items, 8) == 4);
  CHECK_FALSE(queue.try_dequeue(item));
  CHECK(counts(queue) == Counts{5, 5});
}

TEST_CASE("TBB's queues count only accepted items") {
  Counted<tbb::concurrent_queue<std::unique_ptr<int>>> queue{{.name = "tbb"}};
  queue.push(std::make_unique<int>(1));
  queue.emplace(new int(2));
  std::unique_ptr<int> item;
  CHECK(queue.try_pop(item));
  CHECK(*item == 1);
  CHECK(queue.try_pop(item));
  CHECK_FALSE(queue.try_pop(item));
  CHECK(counts(queue) == Counts{2, 2});

  Counted<tbb::concurrent_bounded_queue<int>> bounded{{.name = "bounded"}};
  bounded.set_capacity(1);
  CHECK(bounded.try_push(1));
  CHECK_FALSE(bounded.try_push(2));
  int value = 0;
  bounded.pop(value);
  CHECK(counts(bounded) == Counts{1, 1});
}

// A queue as users write it: with a lock inside, and a result.
class Locked {
 public:
  bool push(int item) {
    const std::lock_guard lock(mutex_);
    if (items_.size() == 2) return false;
    items_.push_back(item);
    return true;
  }
  std::optional<int> pop() {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    const int item = items_.front();
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::deque<int> items_;
};

class Pointers {
 public:
  void push(int* item) { items_.push_back(item); }
  int* pop() {
    if (items_.empty()) return nullptr;
    int* const item = items_.back();
    items_.pop_back();
    return item;
  }

 private:
  std::vector<int*> items_;
};

class Numbers {  // a queue whose pop waits
 public:
  void push(unsigned item) { item_ = item; }
  unsigned pop() { return item_; }

 private:
  unsigned item_ = 0;
};

TEST_CASE("a custom queue counts by its members' answers") {
  Counted<Locked> locked{{.name = "locked"}};
  CHECK(locked.push(1));
  CHECK(locked.push(2));
  CHECK_FALSE(locked.push(3));
  CHECK(locked.pop() == 1);
  CHECK(locked.pop() == 2);
  CHECK_FALSE(locked.pop());
  CHECK(counts(locked) == Counts{2, 2});

  Counted<Pointers> pointers{{.name = "pointers"}};
  int item = 0;
  pointers.push(&item);
  CHECK(pointers.pop() == &item);
  CHECK(pointers.pop() == nullptr);
  CHECK(counts(pointers) == Counts{1, 1});

  Counted<Numbers> numbers{{.name = "numbers"}};
  numbers.push(0);
  CHECK(numbers.pop() == 0);
  CHECK(counts(numbers) == Counts{1, 1});
}

TEST_CASE("a class that is a queue counts by a base class") {
  const ArenaView view(getpid());
  struct Mine : private QueueCounter {
    Mine() : QueueCounter({.name = "mine"}) {}
    void add() { count_in_locked(); }
    void take() { count_out(2); }
  } mine;
  mine.add();
  mine.add();
  mine.take();
  CHECK(view.one("mine").counts.in == 2);
  CHECK(view.one("mine").counts.out == 2);
}

TEST_CASE("two producers and two consumers of a counted queue lose no count") {
  constexpr std::uint64_t kEach = 5000;
  Counted<boost::lockfree::queue<int>> queue{{.name = "race"}, std::size_t{128}};
  std::atomic<std::uint64_t> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < kEach; ++n)
        while (!queue.push(1)) std::this_thread::yield();
    });
    threads.emplace_back([&] {
      int item = 0;
      while (taken < 2 * kEach) taken += queue.pop(item) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counts(queue) == Counts{2 * kEach, 2 * kEach});
}

TEST_CASE("the guard of a queue decides how it counts") {
  STATIC_CHECK(queue_detail::kCountingOf<std::deque<int>> == Counting::kAlone);
  STATIC_CHECK(queue_detail::kCountingOf<std::stack<int>> == Counting::kAlone);
  STATIC_CHECK(queue_detail::kCountingOf<boost::lockfree::spsc_queue<int>> == Counting::kAlone);
  STATIC_CHECK(queue_detail::kCountingOf<boost::lockfree::queue<int>> == Counting::kShared);
  STATIC_CHECK(queue_detail::kCountingOf<moodycamel::ConcurrentQueue<int>> == Counting::kShared);
  STATIC_CHECK(queue_detail::kCountingOf<tbb::concurrent_queue<int>> == Counting::kShared);
}

}  // namespace
}  // namespace sojourn
