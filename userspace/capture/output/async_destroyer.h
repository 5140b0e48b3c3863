// Destroys sources on a thread of its own: to take probes off waits some 30 ms for the kernel, and
// nobody would empty the other rings meanwhile. One thread owns an AsyncDestroyer; its destructor
// returns when all of them are destroyed.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "userspace/capture/output/source.h"

namespace sojourn::capture {

class AsyncDestroyer {
 public:
  AsyncDestroyer() = default;
  AsyncDestroyer(const AsyncDestroyer&) = delete;
  AsyncDestroyer& operator=(const AsyncDestroyer&) = delete;
  ~AsyncDestroyer() {
    if (!thread_.joinable()) return;
    {
      const std::scoped_lock lock(mutex_);
      is_closed_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void destroy(std::unique_ptr<Source> source) {
    {
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(std::move(source));
    }
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    wake_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      auto gone = std::exchange(waiting_, {});
      lock.unlock();
      gone.clear();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<Source>> waiting_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace sojourn::capture
