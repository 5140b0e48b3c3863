// One column of numbers as bytes. Numbers are stored as differences to an earlier row where that
// helps, folded so that small ones of either sign are small, and cut into planes (the lowest byte
// of every number, the second byte of every number, ...). The higher planes are nearly all zero and
// cost nearly nothing once compressed. Planes are written and read some twice as fast as
// variable-length integers, and they are smaller after compression.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sojourn::trace {

// 0, -1, 1, -2, ... become 0, 1, 2, 3, ...; differences wrap.
constexpr std::uint64_t fold(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unfold(std::uint64_t folded) {
  return (folded >> 1) ^ (0 - (folded & 1));
}

// Both return the bits that are set in any of the numbers.
std::uint64_t fold_all(std::span<const std::uint64_t> column, std::span<std::uint64_t> numbers);
// Differences to the row before; of the first row to `before`.
std::uint64_t fold_differences(std::span<const std::uint64_t> column, std::uint64_t before,
                               std::span<std::uint64_t> numbers);

// The number of bytes that a number with these bits needs: 0 to 8.
unsigned width_of(std::uint64_t number);

// Returns whether all are equal. The loop has no early exit, so that it is vectorized.
template <typename Number>
bool is_constant(std::span<const Number> numbers) {
  Number differences = 0;
  for (const Number number : numbers)
    differences = static_cast<Number>(differences | (number ^ numbers.front()));
  return differences == 0;
}

// `width` planes of numbers.size() bytes each.
void put_planes(std::span<const std::uint64_t> numbers, unsigned width,
                std::vector<std::uint8_t>& bytes);
// `planes` has width * numbers.size() bytes.
void get_planes(std::span<const std::uint8_t> planes, unsigned width,
                std::span<std::uint64_t> numbers);

// For each row the newest earlier row whose key columns have the same hash, or kNoRow. Rows of
// different keys that share a hash predict each other badly, but writer and reader agree.
constexpr std::uint32_t kNoRow = UINT32_MAX;
class KeyLinks {
 public:
  void find(std::span<const std::span<const std::uint64_t>> keys, std::size_t rows);
  std::span<const std::uint32_t> previous() const { return previous_; }

 private:
  static constexpr unsigned kHashBits = 10;
  std::array<std::uint32_t, 1u << kHashBits> newest_;
  std::vector<std::uint32_t> previous_;
};

}  // namespace sojourn::trace
