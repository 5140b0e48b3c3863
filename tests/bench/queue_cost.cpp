// The cost of counting for a queue: one item in and out of a std::deque under a mutex and through a
// lock-free queue, without counters, with those for a lock's holder, with those for any number of
// threads, and while another thread samples them. In turn, many rounds each. Prints minimum, median
// and maximum of thread time, and the median over that without counters. Usage: queue-cost [ROUNDS]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/lockfree/queue.hpp>
#include <fmt/core.h>
#include <sojourn/queue.hpp>
#include <time.h>

namespace {

using sojourn::Counted;
using sojourn::Counting;

constexpr int kItems = 200000;

struct Packet {
  std::uint64_t words[4];
};
using Deque = std::deque<Packet>;
using LockFree = boost::lockfree::queue<int>;

double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Operation>
double cost_ns(Operation operation) {
  const double before = thread_ns();
  for (int item = 0; item < kItems; ++item) operation(item);
  return (thread_ns() - before) / kItems;
}

template <typename Queue>
double locked_ns(Queue& queue) {
  static std::mutex mutex;
  return cost_ns([&](int item) {
    {
      const std::lock_guard lock(mutex);
      queue.push_back(Packet{{static_cast<std::uint64_t>(item)}});
    }
    const std::lock_guard lock(mutex);
    queue.pop_front();
  });
}

template <typename Queue>
double lock_free_ns(Queue& queue) {
  return cost_ns([&](int item) {
    while (!queue.push(item)) {
    }
    queue.pop(item);
  });
}

double counter_ns(void (*in)(sj_queue*, std::uint64_t), void (*out)(sj_queue*, std::uint64_t),
                  sj_queue* queue) {
  return cost_ns([&](int) {
    in(queue, 1);
    out(queue, 1);
  });
}

// Looks at the counters every 50 us.
class Sampler {
 public:
  explicit Sampler(const sj_queue* queue)
      : thread_([this, queue] {
          std::uint64_t sum = 0;
          while (!ended_.load(std::memory_order_relaxed)) {
            sum += sj_queue_depth(queue);
            std::this_thread::sleep_for(std::chrono::microseconds(50));
          }
          seen_ = sum;
        }) {}
  ~Sampler() {
    ended_ = true;
    thread_.join();
  }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

 private:
  std::atomic<bool> ended_ = false;
  std::atomic<std::uint64_t> seen_ = 0;
  std::thread thread_;
};

struct Row {
  std::string name;
  std::function<double()> round;
  bool is_base = false;
  std::vector<double> costs = {};

  double median() const { return costs[costs.size() / 2]; }
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 101;
  Deque plain;
  Counted<Deque> alone{{.name = "bench.alone"}};
  Counted<Deque, Counting::kShared> shared{{.name = "bench.shared"}};
  LockFree plain_free(128);
  Counted<LockFree> counted_free{{.name = "bench.free"}, std::size_t{128}};
  sojourn::QueueCounter bare({.name = "bench.bare"});

  std::vector<Row> rows;
  rows.push_back({"deque and mutex, not counted", [&] { return locked_ns(plain); }, true});
  rows.push_back({"  counted under the lock", [&] { return locked_ns(alone); }});
  rows.push_back({"  and sampled every 50 us", [&] {
                    const Sampler sampler(alone.counter().queue());
                    return locked_ns(alone);
                  }});
  rows.push_back({"  counted for any thread", [&] { return locked_ns(shared); }});
  rows.push_back({"lock-free queue, not counted", [&] { return lock_free_ns(plain_free); }, true});
  rows.push_back({"  counted for any thread", [&] { return lock_free_ns(counted_free); }});
  rows.push_back({"nothing but a call in and out",
                  [&] {
                    const auto nothing = [](sj_queue*, std::uint64_t) { __asm__ volatile(""); };
                    return counter_ns(nothing, nothing, bare.queue());
                  },
                  true});
  rows.push_back({"  counted under the lock", [&] {
                    return counter_ns(sj_queue_in_locked, sj_queue_out_locked, bare.queue());
                  }});
  rows.push_back({"  counted for any thread",
                  [&] { return counter_ns(sj_queue_in, sj_queue_out, bare.queue()); }});

  // A process that never had a second thread has cheaper mutexes.
  {
    const Sampler sampler(bare.queue());
  }
  // Each round begins elsewhere, so that none always follows the same one.
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Row& row = rows[(i + static_cast<std::size_t>(round)) % rows.size()];
      row.costs.push_back(row.round());
    }
  fmt::print("{:<32}{:>8} {:>8} {:>8} {:>8}\n", "ns an item, in and out", "min", "median", "max",
             "ratio");
  double base = 0;
  for (Row& row : rows) {
    std::ranges::sort(row.costs);
    if (row.is_base) base = row.median();
    fmt::print("{:<32}{:>8.2f} {:>8.2f} {:>8.2f} {:>8.3f}\n", row.name, row.costs.front(),
               row.median(), row.costs.back(), row.median() / base);
  }
  return 0;
}
