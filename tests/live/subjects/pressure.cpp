// A line of threads with short queues between them, each with the events of its items; the last one
// stops for 700 ms of each 1.5 seconds, so that the queues before it fill up one after the other.
// Says "ready" on descriptor 3 and works until it is ended.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <sojourn/queue.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCapacity = 40;

class Line {
 public:
  explicit Line(sj_queue* queue) : queue_(queue) {}

  void put(long item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return items_.size() < kCapacity; });
    items_.push_back(item);
    SJ_ENQUEUE_ITEM_LOCKED(queue_, item);
    changed_.notify_all();
  }
  long take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty(); });
    const long item = items_.front();
    items_.pop_front();
    SJ_DEQUEUE_ITEM_LOCKED(queue_, item);
    changed_.notify_all();
    return item;
  }

 private:
  sj_queue* queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<long> items_;
};

void pass_on(const char* name, Line& from, Line& into) {
  pthread_setname_np(pthread_self(), name);
  for (;;) into.put(from.take());
}

}  // namespace

int main() {
  // The queues do not name the threads that feed and drain them.
  Line first(SJ_QUEUE("first"));
  Line second(SJ_QUEUE("second"));
  Line third(SJ_QUEUE("third"));
  std::thread([&] { pass_on("middle-1", first, second); }).detach();
  std::thread([&] { pass_on("middle-2", second, third); }).detach();
  std::thread([&] {
    pthread_setname_np(pthread_self(), "slow-end");
    auto stops_at = std::chrono::steady_clock::now() + 500ms;
    for (;;) {
      third.take();
      if (std::chrono::steady_clock::now() < stops_at) continue;
      std::this_thread::sleep_for(700ms);
      stops_at += 1500ms;
    }
  }).detach();
  (void)!write(3, "ready\n", 6);
  for (long item = 0;; ++item) {
    first.put(item);
    std::this_thread::sleep_for(500us);
  }
}
