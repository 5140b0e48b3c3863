// A thread that runs pieces of work in the order in which they were added, so that callers need not
// wait. Any thread may add work. The destructor returns when all added work is done.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>

namespace sojourn::base {

template <typename Work>
class WorkerThread {
 public:
  // Both functions run on the thread. If one returns false, the thread stops and drops the waiting
  // work.
  using Begin = std::function<bool()>;
  using Do = std::function<bool(Work&)>;

  // Returns when `begin` has returned.
  explicit WorkerThread(
      Do work, Begin begin = [] { return true; })
      : do_(std::move(work)), begin_(std::move(begin)), thread_([this] { run(); }) {
    has_begun_.wait();
  }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  ~WorkerThread() { end(); }

  void add(Work work) {
    with_waiting([&](std::deque<Work>& waiting) {
      if (!has_stopped_) waiting.push_back(std::move(work));
    });
    wake_.notify_one();
  }

  // Calls `use` with the waiting work under the lock, and returns its result.
  template <typename Use>
  auto with_waiting(const Use& use) {
    const std::scoped_lock lock(mutex_);
    return use(waiting_);
  }

  // Returns when all added work is done. No work may be added afterwards.
  void end() {
    {
      const std::scoped_lock lock(mutex_);
      is_ending_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    bool goes_on = begin_();
    has_begun_.count_down();
    std::unique_lock lock(mutex_);
    while (goes_on) {
      wake_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      Work work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      goes_on = do_(work);
      lock.lock();
    }
    has_stopped_ = true;
    waiting_.clear();
  }

  const Do do_;
  const Begin begin_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> waiting_;
  bool is_ending_ = false;
  bool has_stopped_ = false;
  std::latch has_begun_{1};
  std::thread thread_;
};

}  // namespace sojourn::base
