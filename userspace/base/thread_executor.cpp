#include "userspace/base/thread_executor.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace sojourn::base {

namespace {

// Tracks which slot each item is in. Each stage waits for the one before it, and the producer waits
// for the caller, because the number of slots is fixed.
class Turns {
 public:
  explicit Turns(std::size_t workers) : done_(workers, 0) {}

  // For the producer: a free slot; none if it was stopped.
  std::optional<Pipeline::Slot> to_fill() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return stopped_ || made_ - finished_ < Executor::kSlots; });
    if (stopped_) return std::nullopt;
    return made_ % Executor::kSlots;
  }
  void filled() {
    const std::lock_guard lock(mutex_);
    ++made_;
    tell_made();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    tell_made();
  }

  // For a worker: the slot of the next item; none after the last item or if it was stopped.
  std::optional<Pipeline::Slot> to_work_on(std::size_t worker) {
    std::unique_lock lock(mutex_);
    made_one_.wait(lock, [&] { return stopped_ || ended_ || made_ > done_[worker]; });
    if (stopped_ || made_ == done_[worker]) return std::nullopt;
    return done_[worker] % Executor::kSlots;
  }
  void worked(std::size_t worker) {
    const std::lock_guard lock(mutex_);
    ++done_[worker];
    worked_.notify_one();
  }

  // For the caller: the slot of the next item that all workers have finished; none as above.
  std::optional<Pipeline::Slot> to_finish() {
    std::unique_lock lock(mutex_);
    worked_.wait(lock, [this] {
      return stopped_ || through() > finished_ || (ended_ && made_ == finished_);
    });
    if (stopped_ || through() == finished_) return std::nullopt;
    return finished_ % Executor::kSlots;
  }
  void finished() {
    const std::lock_guard lock(mutex_);
    ++finished_;
    freed_.notify_one();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    freed_.notify_one();
    tell_made();
  }

 private:
  // The number of items that all workers have finished.
  std::uint64_t through() const { return done_.empty() ? made_ : *std::ranges::min_element(done_); }
  void tell_made() {
    made_one_.notify_all();
    worked_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable freed_;     // for the maker
  std::condition_variable made_one_;  // for workers
  std::condition_variable worked_;    // for the caller
  std::uint64_t made_ = 0;
  std::vector<std::uint64_t> done_;  // by worker
  std::uint64_t finished_ = 0;
  bool ended_ = false;
  bool stopped_ = false;
};

// The first exception of several threads (such as out of memory), for the thread that waits for
// them.
class Failure {
 public:
  // Runs a thread's function. An exception stops all threads.
  template <typename Work>
  void keep_of(Turns& turns, Work work) {
    try {
      work();
    } catch (...) {
      keep(std::current_exception());
      turns.stop();
    }
  }

  // Call it when all threads have ended.
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (first_) std::rethrow_exception(first_);
  }

 private:
  void keep(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::move(thrown);
  }

  std::mutex mutex_;
  std::exception_ptr first_;
};

void make_all(const Pipeline& pipeline, Turns& turns) {
  pipeline.make([&turns](const Pipeline::Fill& fill) {
    const auto slot = turns.to_fill();
    if (!slot) return false;
    fill(*slot);
    turns.filled();
    return true;
  });
  turns.end();
}

}  // namespace

unsigned ThreadExecutor::processors() const {
  return std::thread::hardware_concurrency();
}

void ThreadExecutor::run(const Pipeline& pipeline) {
  Turns turns(pipeline.workers.size());
  Failure failure;
  {
    // Joined at the end of this block, also on an exception.
    std::vector<std::jthread> threads;
    const auto start = [&](auto work) {
      threads.emplace_back([&, work] { failure.keep_of(turns, work); });
    };
    failure.keep_of(turns, [&] {
      start([&] { make_all(pipeline, turns); });
      for (std::size_t worker = 0; worker < pipeline.workers.size(); ++worker)
        start([&, worker] {
          while (const auto slot = turns.to_work_on(worker)) {
            pipeline.workers[worker](*slot);
            turns.worked(worker);
          }
        });
      while (const auto slot = turns.to_finish()) {
        if (!pipeline.finish(*slot)) turns.stop();
        turns.finished();
      }
    });
  }
  failure.rethrow();
}

}  // namespace sojourn::base
