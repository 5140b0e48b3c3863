// Sorts numbers without comparing them: by one digit after the other, the least first. For many
// numbers that are small beside 2^64, as times are, that is a few passes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace sojourn::statistics {

// Sorts numbers that are at most `max`. Needs as much memory again meanwhile.
inline void radix_sort(std::span<std::uint64_t> numbers, std::uint64_t max) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  const auto memory = std::make_unique_for_overwrite<std::uint64_t[]>(numbers.size());
  auto from = numbers;
  auto to = std::span(memory.get(), numbers.size());
  const auto bits = static_cast<unsigned>(std::bit_width(max));
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    const auto digit = [shift](std::uint64_t number) { return (number >> shift) & (kDigits - 1); };
    std::array<std::size_t, kDigits> places = {};
    for (const auto number : from) ++places[digit(number)];
    std::size_t before = 0;
    for (auto& place : places) {
      const auto count = place;
      place = before;
      before += count;
    }
    for (const auto number : from) to[places[digit(number)]++] = number;
    std::swap(from, to);
  }
  if (from.data() != numbers.data()) std::ranges::copy(from, numbers.begin());
}

}  // namespace sojourn::statistics
