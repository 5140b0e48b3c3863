// Finds segments that make up a whole unit without a gap and without an overlap. One thread owns
// it. It keeps its memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/journeys/units/intervals.h"

namespace sojourn::journeys {

class Tiling {
 public:
  // Finds a tiling of [0, whole). It has the newest segment that any tiling has, and on both sides
  // of it the newest that fit. The last one of `pieces` is the newest. Returns whether there is a
  // tiling.
  bool find(std::span<const std::optional<Interval>> pieces, std::uint32_t whole) {
    pieces_ = pieces;
    used_.assign(pieces.size(), false);
    find_possible(whole);
    const auto newest = newest_that([](const Interval&) { return true; });
    if (newest) take_around(*newest, whole);
    return newest.has_value();
  }

  bool uses(std::size_t piece) const { return used_[piece]; }

 private:
  // Finds the segments of which both sides can be filled.
  void find_possible(std::uint32_t whole) {
    order_.clear();
    for (std::size_t at = 0; at < pieces_.size(); ++at)
      if (pieces_[at] && pieces_[at]->begin < pieces_[at]->end) order_.push_back(at);
    std::ranges::sort(order_, {}, [this](std::size_t at) { return pieces_[at]->begin; });
    filled_to_.assign(1, 0);
    for (const auto at : order_)
      if (is_in(filled_to_, pieces_[at]->begin)) filled_to_.push_back(pieces_[at]->end);
    std::ranges::sort(order_, std::greater(), [this](std::size_t at) { return pieces_[at]->end; });
    filled_from_.assign(1, whole);
    for (const auto at : order_)
      if (is_in(filled_from_, pieces_[at]->end)) filled_from_.push_back(pieces_[at]->begin);
    possible_.assign(pieces_.size(), false);
    for (const auto at : order_)
      possible_[at] =
          is_in(filled_to_, pieces_[at]->begin) && is_in(filled_from_, pieces_[at]->end);
  }

  void take_around(std::size_t newest, std::uint32_t whole) {
    used_[newest] = true;
    for (auto begin = pieces_[newest]->begin; begin > 0;)
      begin = take([&](const Interval& piece) { return piece.end == begin; }).begin;
    for (auto end = pieces_[newest]->end; end < whole;)
      end = take([&](const Interval& piece) { return piece.begin == end; }).end;
  }

  template <typename Fits>
  std::optional<std::size_t> newest_that(Fits fits) const {
    for (auto at = pieces_.size(); at-- > 0;)
      if (possible_[at] && fits(*pieces_[at])) return at;
    return std::nullopt;
  }

  // Takes the newest that fits. There is one, since both sides of a possible segment can be filled.
  template <typename Fits>
  Interval take(Fits fits) {
    const auto at = newest_that(fits).value();
    used_[at] = true;
    return *pieces_[at];
  }

  // A linear search, since segments of one number are few.
  static bool is_in(const std::vector<std::uint32_t>& ends, std::uint32_t end) {
    return std::ranges::find(ends, end) != ends.end();
  }

  std::span<const std::optional<Interval>> pieces_;
  std::vector<bool> used_;
  std::vector<bool> possible_;
  std::vector<std::size_t> order_;
  std::vector<std::uint32_t> filled_to_;    // [0, end) can be filled up to these ends
  std::vector<std::uint32_t> filled_from_;  // [begin, whole) can be filled from these begins
};

}  // namespace sojourn::journeys
