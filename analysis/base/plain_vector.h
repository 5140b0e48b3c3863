// A vector of plain values for loops that do hardly more than add one. That is a test and a store,
// and growing is out of line. Memory that was reserved and not written costs nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace sojourn {

template <typename T>
class PlainVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PlainVector() = default;
  PlainVector(PlainVector&& other) noexcept
      : items_(std::move(other.items_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  PlainVector& operator=(PlainVector&& other) noexcept {
    items_ = std::move(other.items_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  void push_back(const T& item) {
    if (size_ == capacity_) return push_back_with_room(item);
    items_[size_++] = item;
  }
  // `items` may not be a part of this vector.
  void append(std::span<const T> items) {
    const auto size = size_ + items.size();
    if (size > capacity_) reserve(std::max(size, 2 * capacity_));
    std::ranges::copy(items, end());
    size_ += items.size();
  }
  void clear() { size_ = 0; }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto items = std::make_unique_for_overwrite<T[]>(capacity);
    std::copy_n(items_.get(), size_, items.get());
    items_ = std::move(items);
    capacity_ = capacity;
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return items_.get(); }
  const T* data() const { return items_.get(); }
  T* begin() { return data(); }
  const T* begin() const { return data(); }
  T* end() { return data() + size_; }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t index) { return items_[index]; }
  const T& operator[](std::size_t index) const { return items_[index]; }
  const T& front() const { return items_[0]; }
  T& back() { return items_[size_ - 1]; }
  const T& back() const { return items_[size_ - 1]; }

 private:
  static constexpr std::size_t kFirst = 4;

  [[gnu::noinline]] void push_back_with_room(T item) {
    reserve(std::max(kFirst, 2 * capacity_));
    items_[size_++] = item;
  }

  std::unique_ptr<T[]> items_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace sojourn
