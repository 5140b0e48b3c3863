// Units in the order in which they were appended: one queue for those that wait, one for those that
// left. When a unit expires, it is not in the processor's caches any more. So this is a ring: it
// knows the next units long before their turn, and they can be prefetched. A unit is in one such
// ring at a time. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class AgeQueue {
 public:
  bool empty() const { return begin_ == end_; }
  Unit* oldest() const { return at(begin_).unit; }
  std::uint64_t oldest_since_ns() const { return at(begin_).since_ns; }
  // Returns the unit `behind` places after the oldest, or null if it was removed or there is none.
  Unit* coming(std::uint32_t behind) const {
    return end_ - begin_ > behind ? at(begin_ + behind).unit : nullptr;
  }

  // Calls `visit(unit)` for all units, the oldest first.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (auto place = begin_; place != end_; ++place)
      if (auto* const unit = at(place).unit) visit(*unit);
  }

  // The number of units that there is memory for.
  std::size_t room() const { return ring_.size(); }

  void append(Unit* unit, std::uint64_t now_ns) {
    if (end_ - begin_ > mask_) grow();
    unit->place = end_;
    at(end_++) = {unit, now_ns};
  }

  void remove(const Unit* unit) {
    at(unit->place).unit = nullptr;
    if (unit->place != begin_) return;
    ++begin_;
    while (begin_ != end_ && at(begin_).unit == nullptr) [[unlikely]]
      ++begin_;
  }

 private:
  struct Item {
    Unit* unit = nullptr;
    std::uint64_t since_ns = 0;
  };

  Item& at(std::uint32_t place) { return ring_[place & mask_]; }
  const Item& at(std::uint32_t place) const { return ring_[place & mask_]; }

  // Places of removed units are given up, so that a few units that stay long do not make the ring
  // longer and longer.
  void grow() {
    std::vector<Item> items;
    items.reserve(ring_.size());
    for (auto place = begin_; place != end_; ++place)
      if (at(place).unit != nullptr) items.push_back(at(place));
    std::size_t size = ring_.size();
    if (items.size() * 2 > size) size *= 2;
    ring_.assign(size, {});
    mask_ = static_cast<std::uint32_t>(size - 1);
    begin_ = 0;
    end_ = static_cast<std::uint32_t>(items.size());
    for (std::uint32_t place = 0; place < items.size(); ++place) {
      ring_[place] = items[place];
      items[place].unit->place = place;
    }
  }

  std::vector<Item> ring_ = std::vector<Item>(1024);  // its size is a power of two
  std::uint32_t mask_ = 1023;                         // the size less one
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
};

}  // namespace sojourn::journeys
