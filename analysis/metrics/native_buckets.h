// Counts of times by exponential buckets, as Prometheus's native histograms have them: eight for
// each doubling, so a bucket is 9 % wide. Their bounds are the powers of 2^(1/8) seconds, from
// 2^-30. Times beyond 2^8 seconds count in the last bucket. Plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sojourn::metrics {

class NativeBuckets {
 public:
  static constexpr int kSchema = 3;             // 2^3 buckets for each doubling
  static constexpr int kFirst = -240;           // its bound is 2^-30 s
  static constexpr std::size_t kBuckets = 305;  // the last one's bound is 2^8 s
  static constexpr int kBucketsOfDoubling = 1 << kSchema;

  // Returns the number of the first bucket whose bound is not below the time.
  static int bucket_of(std::uint64_t ns) {
    const double place = std::ceil(std::log2(static_cast<double>(ns) / 1e9) * kBucketsOfDoubling);
    return static_cast<int>(
        std::clamp(place, static_cast<double>(kFirst), static_cast<double>(kFirst) + kBuckets - 1));
  }
  static double bound_seconds(int bucket) {
    return std::exp2(static_cast<double>(bucket) / kBucketsOfDoubling);
  }

  void add(std::uint64_t ns) {
    if (ns == 0)
      ++zeros_;
    else
      ++counts_[static_cast<std::size_t>(bucket_of(ns) - kFirst)];
  }

  std::uint64_t zeros() const { return zeros_; }
  // The counts of kFirst and those after it.
  const std::array<std::uint64_t, kBuckets>& counts() const { return counts_; }

  // The times that were counted since `earlier`, a former state of this.
  NativeBuckets since(const NativeBuckets& earlier) const;
  std::uint64_t count() const;
  // Returns the bound of the bucket that holds the quantile, or 0 if nothing was counted.
  double quantile_seconds(double share) const;

 private:
  std::uint64_t zeros_ = 0;
  std::array<std::uint64_t, kBuckets> counts_ = {};
};

}  // namespace sojourn::metrics
