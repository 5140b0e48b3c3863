#include "analysis/trace/column.h"

#include <algorithm>
#include <bit>

namespace sojourn::trace {

unsigned width_of(std::uint64_t number) {
  return (static_cast<unsigned>(std::bit_width(number)) + 7) / 8;
}

std::uint64_t fold_all(std::span<const std::uint64_t> column, std::span<std::uint64_t> numbers) {
  std::uint64_t bits = 0;
  for (std::size_t row = 0; row < column.size(); ++row) bits |= numbers[row] = fold(column[row]);
  return bits;
}

std::uint64_t fold_differences(std::span<const std::uint64_t> column, std::uint64_t before,
                               std::span<std::uint64_t> numbers) {
  if (column.empty()) return 0;
  std::uint64_t bits = numbers[0] = fold(column[0] - before);
  for (std::size_t row = 1; row < column.size(); ++row)
    bits |= numbers[row] = fold(column[row] - column[row - 1]);
  return bits;
}

void put_planes(std::span<const std::uint64_t> numbers, unsigned width,
                std::vector<std::uint8_t>& bytes) {
  constexpr std::size_t kSome = 1024;  // numbers that stay in the nearest cache between planes
  if (width == 0) return;
  const std::size_t start = bytes.size();
  bytes.resize(start + width * numbers.size());
  for (std::size_t from = 0; from < numbers.size(); from += kSome) {
    const auto some = numbers.subspan(from, std::min(kSome, numbers.size() - from));
    std::uint8_t* plane = bytes.data() + start + from;
    for (unsigned byte = 0; byte < width; ++byte, plane += numbers.size())
      for (std::size_t row = 0; row < some.size(); ++row)
        plane[row] = static_cast<std::uint8_t>(some[row] >> (8 * byte));
  }
}

namespace {

template <unsigned kWidth>
void join_planes(const std::uint8_t* planes, std::span<std::uint64_t> numbers) {
  const std::size_t rows = numbers.size();
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint64_t number = 0;
    for (unsigned byte = 0; byte < kWidth; ++byte)
      number |= static_cast<std::uint64_t>(planes[byte * rows + row]) << (8 * byte);
    numbers[row] = number;
  }
}

}  // namespace

void get_planes(std::span<const std::uint8_t> planes, unsigned width,
                std::span<std::uint64_t> numbers) {
  constexpr std::array kJoin = {join_planes<0>, join_planes<1>, join_planes<2>,
                                join_planes<3>, join_planes<4>, join_planes<5>,
                                join_planes<6>, join_planes<7>, join_planes<8>};
  kJoin.at(width)(planes.data(), numbers);
}

void KeyLinks::find(std::span<const std::span<const std::uint64_t>> keys, std::size_t rows) {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  newest_.fill(kNoRow);
  previous_.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint64_t hash = 0;
    for (const auto& key : keys) hash = (hash ^ key[row]) * kGoldenRatio;
    std::uint32_t& newest = newest_[hash >> (64 - kHashBits)];
    previous_[row] = newest;
    newest = static_cast<std::uint32_t>(row);
  }
}

}  // namespace sojourn::trace
