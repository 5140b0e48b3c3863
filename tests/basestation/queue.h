// The bounded queue between two stages. Any thread may push, one thread takes; both in batches, so
// that a lock is paid once for many units. A waiting side is woken only if it really waits. With
// truth, every operation is recorded under the lock, so that order and depth are exact. Its
// counters are registered for observers outside the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sojourn/queue.hpp>

#include "tests/basestation/truth_log.h"

namespace sojourn::basestation {

inline constexpr std::uint16_t kUnrecorded = 0xffff;

// The name of a queue and its place. Unrecorded ones have neither truth nor counters.
struct QueuePlace {
  std::uint16_t id = kUnrecorded;  // in the truth
  std::size_t capacity = 0;
  std::string name = {};
  const char* producer = nullptr;  // null: several stages
  const char* consumer = nullptr;
  std::uint32_t group = 0;  // the RNTI of a bearer's queue
};

template <typename T>
class Queue {
 public:
  explicit Queue(const QueuePlace& place) : id_(place.id), ring_(place.capacity) {
    if (id_ == kUnrecorded) return;
    counter_.emplace(sj_queue_spec{.name = place.name.c_str(),
                                   .producer = {place.producer, 0},
                                   .consumer = {place.consumer, 0},
                                   .group = place.group,
                                   .capacity = place.capacity,
                                   .address = this});
  }

  // Takes as many from the front of `items` as there is room for, at once; how many.
  std::size_t offer(std::span<T> items, Log& log) {
    std::size_t taken = 0;
    bool wake = false;
    {
      const std::lock_guard lock(mutex_);
      taken = std::min(items.size(), ring_.size() - size_);
      insert(items.first(taken), log);
      wake = consumer_waits_;
    }
    if (wake && taken != 0) not_empty_.notify_one();
    return taken;
  }
  bool offer(T& item, Log& log) { return offer(std::span(&item, 1), log) == 1; }

  // Waits for room until everything is in; false when the queue was closed before that.
  bool put(std::span<T> items, Log& log) {
    for (;;) {
      items = items.subspan(offer(items, log));
      if (items.empty()) return true;
      std::unique_lock lock(mutex_);
      ++waiting_producers_;
      not_full_.wait(lock, [this] { return closed_ || size_ < ring_.size(); });
      --waiting_producers_;
      if (closed_) return false;
    }
  }
  bool put(T item, Log& log) { return put(std::span(&item, 1), log); }

  // Replaces the contents of `out` by up to `most` units; waits for the first until `until_ns`.
  // Returns false when the queue is closed: units that are still in it stay.
  bool take(std::vector<T>& out, std::size_t most, std::uint64_t until_ns, Log& log) {
    out.clear();
    bool wake = false;
    {
      std::unique_lock lock(mutex_);
      if (size_ == 0 && !closed_ && until_ns != 0) {
        using Time = std::chrono::steady_clock::time_point;  // CLOCK_MONOTONIC
        const Time until{std::chrono::nanoseconds(until_ns)};
        consumer_waits_ = true;
        not_empty_.wait_until(lock, until, [this] { return closed_ || size_ != 0; });
        consumer_waits_ = false;
      }
      if (closed_) return false;
      remove(out, std::min(most, size_), log);
      wake = waiting_producers_ != 0;
    }
    if (wake) not_full_.notify_all();
    return true;
  }

  std::optional<T> take_one(Log& log) {
    if (size() == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (size_ == 0 || closed_) return std::nullopt;
    const std::uint64_t ts_ns = log.stamp();
    return remove_one(ts_ns, log);
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  // The size at some moment close to now.
  std::size_t size() const { return visible_size_.load(std::memory_order_relaxed); }

 private:
  void insert(std::span<T> items, Log& log) {
    const std::uint64_t ts_ns = log.stamp();
    for (T& item : items) {
      ++size_;
      record(truth::QueueAction::kEnqueue, ts_ns, item, log);
      ring_[(first_ + size_ - 1) % ring_.size()] = std::move(item);
    }
    visible_size_.store(size_, std::memory_order_relaxed);
    if (counter_) counter_->count_in_locked(items.size());
  }

  void remove(std::vector<T>& out, std::size_t count, Log& log) {
    const std::uint64_t ts_ns = log.stamp();
    for (; count != 0; --count) out.push_back(remove_one(ts_ns, log));
  }

  T remove_one(std::uint64_t ts_ns, Log& log) {
    T item = std::move(ring_[first_]);
    first_ = (first_ + 1) % ring_.size();
    --size_;
    visible_size_.store(size_, std::memory_order_relaxed);
    if (counter_) counter_->count_out_locked();
    record(truth::QueueAction::kDequeue, ts_ns, item, log);
    return item;
  }

  void record(truth::QueueAction action, std::uint64_t ts_ns, const T& item, Log& log) {
    if (!log.active() || id_ == kUnrecorded) return;
    log.queue_op(id_, action, order_++, ts_ns, size_, item_id(item));
  }

  const std::uint16_t id_;
  std::optional<QueueCounter> counter_;
  std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::vector<T> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::uint64_t order_ = 0;
  unsigned waiting_producers_ = 0;
  bool consumer_waits_ = false;
  bool closed_ = false;
  std::atomic<std::size_t> visible_size_ = 0;
};

}  // namespace sojourn::basestation
