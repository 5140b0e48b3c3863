// Batches on their way from the thread that makes them to others that work on them: each of those
// gets all batches, in their order. A few may be under way at once; the writer waits for the
// slowest. Whoever stops it ends it for all.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace sojourn::report {

template <typename Batch>
class BroadcastQueue {
 public:
  static constexpr std::size_t kBatches = 8;  // under way at once

  explicit BroadcastQueue(std::size_t readers) : done_(readers, 0), holds_(readers, false) {}

  // The writer: takes the batch away and gives one whose memory may be used again. False: it was
  // stopped.
  bool put(Batch& batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || written_ - slowest() < kBatches; });
    if (stopped_) return false;
    std::swap(batches_[written_ % kBatches], batch);
    ++written_;
    changed_.notify_all();
    return true;
  }

  // The writer: that was all.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  // A reader: the next batch, there until it asks for another; none: that was all, or it was
  // stopped.
  const Batch* next(std::size_t reader) {
    std::unique_lock lock(mutex_);
    if (holds_[reader]) {
      ++done_[reader];
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return stopped_ || ended_ || written_ > done_[reader]; });
    holds_[reader] = !stopped_ && written_ > done_[reader];
    return holds_[reader] ? &batches_[done_[reader] % kBatches] : nullptr;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  std::uint64_t slowest() const { return *std::ranges::min_element(done_); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Batch, kBatches> batches_;
  std::uint64_t written_ = 0;
  std::vector<std::uint64_t> done_;  // by reader
  std::vector<bool> holds_;          // by reader: one that it works on
  bool ended_ = false;
  bool stopped_ = false;
};

}  // namespace sojourn::report
