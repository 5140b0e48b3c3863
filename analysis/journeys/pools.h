// Memory of the rebuild: objects and runs of values by 32-bit index, taken from and given back to
// free lists, so that a long trace allocates only while more is in flight than ever before.
// References are valid until the next take().
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace sojourn::journeys {

inline constexpr std::uint32_t kNone = UINT32_MAX;

// Objects keep what they own (capacity of vectors) when given back: the taker resets them.
template <typename T>
class Slab {
 public:
  std::uint32_t take() {
    ++used_;
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const auto index = free_.back();
    free_.pop_back();
    return index;
  }
  void give(std::uint32_t index) {
    --used_;
    free_.push_back(index);
  }

  T& operator[](std::uint32_t index) { return items_[index]; }
  const T& operator[](std::uint32_t index) const { return items_[index]; }
  std::size_t used() const { return used_; }

 private:
  std::vector<T> items_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
};

// A run's capacity is the power of two at or above its size.
template <typename T>
class RunPool {
 public:
  std::uint32_t take(std::uint32_t size) {
    if (size == 0) return kNone;
    auto& free = free_[rank(size)];
    if (!free.empty()) {
      const auto at = free.back();
      free.pop_back();
      return at;
    }
    const auto at = static_cast<std::uint32_t>(items_.size());
    items_.resize(items_.size() + std::bit_ceil(size));
    return at;
  }
  void give(std::uint32_t at, std::uint32_t size) {
    if (size != 0) free_[rank(size)].push_back(at);
  }

  const T* at(std::uint32_t index) const { return items_.data() + index; }
  std::span<T> run(std::uint32_t at, std::uint32_t size) {
    return size == 0 ? std::span<T>() : std::span(items_).subspan(at, size);
  }
  std::span<const T> run(std::uint32_t at, std::uint32_t size) const {
    return size == 0 ? std::span<const T>() : std::span(items_).subspan(at, size);
  }

 private:
  static std::size_t rank(std::uint32_t size) {
    return static_cast<std::size_t>(std::countr_zero(std::bit_ceil(size)));
  }

  std::vector<T> items_;
  std::array<std::vector<std::uint32_t>, 33> free_;
};

}  // namespace sojourn::journeys
