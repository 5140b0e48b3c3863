// The bytes of a unit that were seen, as disjoint and sorted half-open intervals. Segments mostly
// come in order, so adding to the end is the fast case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sojourn::journeys {

struct Interval {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool operator==(const Interval&) const = default;
};

// Returns whether these bytes can be stored as an Interval.
constexpr bool fits_interval(std::uint64_t begin, std::uint64_t length) {
  return begin <= UINT32_MAX && length <= UINT32_MAX && begin + length <= UINT32_MAX;
}

class IntervalSet {
 public:
  // Returns how many bytes were new.
  std::uint32_t add(Interval piece) {
    if (piece.begin >= piece.end) return 0;
    auto first = std::ranges::lower_bound(parts_, piece.begin, {}, &Interval::end);
    std::uint32_t fresh = piece.end - piece.begin;
    auto last = first;
    Interval merged = piece;
    for (; last != parts_.end() && last->begin <= piece.end; ++last) {
      const auto begin = std::max(last->begin, piece.begin);
      const auto end = std::min(last->end, piece.end);
      fresh -= end - begin;
      merged = {std::min(merged.begin, last->begin), std::max(merged.end, last->end)};
    }
    bytes_ += fresh;
    if (first == last) {
      parts_.insert(first, merged);
    } else {
      *first = merged;
      parts_.erase(first + 1, last);
    }
    return fresh;
  }

  bool holds(Interval piece) const {
    const auto part = std::ranges::lower_bound(parts_, piece.end, {}, &Interval::end);
    return piece.begin >= piece.end || (part != parts_.end() && part->begin <= piece.begin);
  }

  void clear() {
    parts_.clear();
    bytes_ = 0;
  }

  std::uint32_t bytes() const { return bytes_; }
  std::uint32_t end() const { return parts_.empty() ? 0 : parts_.back().end; }
  const std::vector<Interval>& parts() const { return parts_; }

 private:
  std::vector<Interval> parts_;
  std::uint32_t bytes_ = 0;
};

}  // namespace sojourn::journeys
