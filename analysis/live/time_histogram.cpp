#include "analysis/live/time_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace sojourn::live {

TimeHistogram::TimeHistogram(unsigned step_bits)
    : step_bits_(step_bits), rows_(64 - step_bits + 1), in_row_(rows_.size()) {}

// Row 0 counts the values that are smaller than the steps of a power of two one by one.
TimeHistogram::Bucket TimeHistogram::bucket_of(std::uint64_t value) const {
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  if (bits <= step_bits_) return {0, static_cast<std::size_t>(value)};
  const unsigned shift = bits - step_bits_ - 1;
  return {bits - step_bits_,
          static_cast<std::size_t>(value >> shift) - (std::size_t{1} << step_bits_)};
}

std::uint64_t TimeHistogram::middle_of(Bucket bucket) const {
  if (bucket.row == 0) return bucket.step;
  const std::uint64_t lowest = ((std::uint64_t{1} << step_bits_) + bucket.step) << (bucket.row - 1);
  return lowest + (std::uint64_t{1} << (bucket.row - 1)) / 2;
}

void TimeHistogram::add(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  const Bucket bucket = bucket_of(value);
  auto& row = rows_[bucket.row];
  if (row.empty()) row.resize(std::size_t{1} << step_bits_);
  row[bucket.step] += times;
  in_row_[bucket.row] += times;
  count_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void TimeHistogram::merge(const TimeHistogram& other) {
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    const auto& theirs = other.rows_[at];
    if (other.in_row_[at] == 0) continue;
    in_row_[at] += other.in_row_[at];
    auto& mine = rows_[at];
    if (mine.empty()) mine.resize(theirs.size());
    for (std::size_t step = 0; step < theirs.size(); ++step) mine[step] += theirs[step];
  }
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void TimeHistogram::clear() {
  for (std::size_t at = 0; at < rows_.size(); ++at)
    if (std::exchange(in_row_[at], 0) != 0) std::ranges::fill(rows_[at], 0);
  count_ = 0;
  min_ = UINT64_MAX;
  max_ = 0;
}

std::uint64_t TimeHistogram::quantile(double share) const {
  if (count_ == 0) return 0;
  // A product that was rounded up must not give the next rank.
  constexpr double kRounded = 1 - 4 * std::numeric_limits<double>::epsilon();
  const double wanted =
      std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_) * kRounded);
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  if (rank == count_) return max_;
  std::uint64_t seen = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (seen + in_row_[row] < rank) {
      seen += in_row_[row];
      continue;
    }
    for (std::size_t step = 0; step < rows_[row].size(); ++step) {
      seen += rows_[row][step];
      if (seen >= rank) return std::clamp(middle_of({row, step}), min_, max_);
    }
  }
  return max_;
}

}  // namespace sojourn::live
