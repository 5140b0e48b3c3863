// The latencies of packets with a resolution of 0.4 %, at the cost of one count each. One thread
// adds; others may read when it has ended.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sojourn::basestation {

class Latencies {
 public:
  void add(std::uint64_t ns) {
    if (counts_.empty()) counts_.resize(kBuckets);  // most threads never deliver anything
    ++counts_[bucket_of(std::min(ns, kMaxNs))];
    ++count_;
  }

  void add(const Latencies& other) {
    if (other.counts_.empty()) return;
    counts_.resize(kBuckets);
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
      counts_[bucket] += other.counts_[bucket];
    count_ += other.count_;
  }

  // The quantile for `share` of a thousand; 0 without packets.
  std::uint64_t permille(std::uint64_t share) const {
    std::uint64_t left = (count_ * share + 999) / 1000;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      if (left <= counts_[bucket]) return start_of(bucket);
      left -= counts_[bucket];
    }
    return 0;
  }

 private:
  // The number of buckets of each power of two from 256 ns on; below, a nanosecond is one.
  static constexpr unsigned kCutBits = 8;
  static constexpr std::uint64_t kCuts = 1U << kCutBits;
  static constexpr std::uint64_t kMaxNs = (std::uint64_t{1} << 36) - 1;  // a minute
  static constexpr std::size_t kBuckets = (36 - kCutBits + 1) * kCuts;

  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < kCuts) return ns;
    const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1 - kCutBits;
    return (power + 1) * kCuts + ((ns >> power) - kCuts);
  }
  static std::uint64_t start_of(std::size_t bucket) {
    if (bucket < kCuts) return bucket;
    const std::size_t power = bucket / kCuts - 1;
    return (kCuts + bucket % kCuts) << power;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
};

}  // namespace sojourn::basestation
