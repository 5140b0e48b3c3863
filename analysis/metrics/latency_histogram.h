// The number of times below each of some fixed bounds, in the form that monitoring adds up over
// hosts and time. The bounds are the same for all times of packets, so that histograms can be
// compared: 1, 2 and 5 of each power of ten from 10 us to 10 s. Finer buckets are counted beside
// them, for programs that take native histograms. Plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "analysis/metrics/native_buckets.h"

namespace sojourn::metrics {

// One of the packets that a bucket counts.
struct Exemplar {
  std::uint64_t journey = 0;
  std::uint64_t value_ns = 0;
  std::uint64_t at_ns = 0;  // of the trace's clock
};

class LatencyHistogram {
 public:
  static constexpr std::array<std::uint64_t, 19> kBoundsNs = {
      10'000,        20'000,        50'000,        100'000,       200'000,
      500'000,       1'000'000,     2'000'000,     5'000'000,     10'000'000,
      20'000'000,    50'000'000,    100'000'000,   200'000'000,   500'000'000,
      1'000'000'000, 2'000'000'000, 5'000'000'000, 10'000'000'000};
  static constexpr std::size_t kBuckets = kBoundsNs.size() + 1;  // the last one has no bound

  // Returns the first bucket whose bound is not below the value.
  static std::size_t bucket_of(std::uint64_t ns) {
    return static_cast<std::size_t>(std::ranges::lower_bound(kBoundsNs, ns) - kBoundsNs.begin());
  }

  void add(std::uint64_t ns) {
    ++counts_[bucket_of(ns)];
    ++count_;
    native_.add(ns);
    sum_ns_ += static_cast<double>(ns);
  }
  // The newest packet of a bucket is its exemplar.
  void add(const Exemplar& packet) {
    add(packet.value_ns);
    exemplars_[bucket_of(packet.value_ns)] = packet;
  }

  std::uint64_t count() const { return count_; }
  double sum_ns() const { return sum_ns_; }
  const NativeBuckets& native() const { return native_; }
  std::uint64_t in_bucket(std::size_t bucket) const { return counts_[bucket]; }
  const std::optional<Exemplar>& exemplar(std::size_t bucket) const { return exemplars_[bucket]; }

 private:
  std::array<std::uint64_t, kBuckets> counts_ = {};
  std::array<std::optional<Exemplar>, kBuckets> exemplars_ = {};
  NativeBuckets native_;
  std::uint64_t count_ = 0;
  double sum_ns_ = 0;
};

}  // namespace sojourn::metrics
