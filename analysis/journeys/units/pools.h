// The memory of a rebuild: objects and runs of values, taken from free lists and given back to
// them. A long trace allocates only while more is in flight than ever before. An object keeps its
// address until it is given back. Memory that was given back stays readable.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace sojourn::journeys {

// A pool whose returned objects keep their memory, such as the capacity of vectors. The next user
// resets the object.
template <typename T>
class Slab {
 public:
  T* take() {
    ++used_;
    if (spares_ != 0) [[likely]]
      return spare_[--spares_];
    if (next_ == end_) grow();
    return next_++;
  }
  void give(T* item) {
    --used_;
    spare_[spares_++] = item;
  }

  std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kMaxChunk = 4096;

  void grow() {
    const auto size = chunks_.empty() ? kFirst : kMaxChunk;
    spare_.resize(spare_.size() + size);
    chunks_.push_back(std::make_unique<T[]>(size));
    next_ = chunks_.back().get();
    end_ = next_ + size;
  }

  T* next_ = nullptr;  // the first that was never taken
  T* end_ = nullptr;
  std::vector<T*>
      spare_;  // the first `spares_` are in use; it has room for all items of all chunks
  std::size_t spares_ = 0;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t used_ = 0;
};

// The capacity of a run is the power of two at or above its size. The size is above 0.
template <typename T>
class RunPool {
 public:
  T* take(std::size_t size) {
    auto& free = free_[rank(size)];
    if (!free.empty()) {
      T* const run = free.back();
      free.pop_back();
      return run;
    }
    const auto capacity = std::bit_ceil(size);
    if (capacity > left_) grow(capacity);
    left_ -= capacity;
    return std::exchange(next_, next_ + capacity);
  }
  void give(T* run, std::size_t size) { free_[rank(size)].push_back(run); }

 private:
  static constexpr std::size_t kChunk = 4096;

  static std::size_t rank(std::size_t size) {
    return static_cast<std::size_t>(std::countr_zero(std::bit_ceil(size)));
  }

  void grow(std::size_t capacity) {
    left_ = std::max(kChunk, capacity);
    chunks_.push_back(std::make_unique<T[]>(left_));
    next_ = chunks_.back().get();
  }

  T* next_ = nullptr;
  std::size_t left_ = 0;
  std::array<std::vector<T*>, 64> free_;
  std::vector<std::unique_ptr<T[]>> chunks_;
};

}  // namespace sojourn::journeys
