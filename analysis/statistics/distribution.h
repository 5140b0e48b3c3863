// The distribution of a time (or any count): exact up to a million samples, beyond that in buckets
// of at most 0.1 % of the value. One thread owns a Distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/base/plain_vector.h"

namespace sojourn::statistics {

class Distribution {
 public:
  static constexpr std::size_t kExactSamples = 1'000'000;

  void add(std::uint64_t value) {
    if (samples_.size() == until_) return add_with_room(value);
    samples_.push_back(value);
  }
  void merge(const Distribution& other);

  std::uint64_t count() const { return settled().count_; }
  std::uint64_t min() const { return count() == 0 ? 0 : min_; }
  std::uint64_t max() const { return settled().max_; }
  double sum() const { return settled().sum_; }
  double mean() const { return count() == 0 ? 0 : sum_ / static_cast<double>(count_); }
  double stdev() const;  // 0 with fewer than two samples
  bool exact() const { return settled().buckets_.empty(); }

  // The smallest sample that at least this share of all samples do not exceed (nearest rank); 0 if
  // there are no samples. With buckets it is the middle of the bucket.
  std::uint64_t quantile(double share) const;
  // The 95 % confidence interval of the population's quantile, by the samples' ranks. No `high`:
  // there are too few samples.
  struct Interval {
    std::uint64_t low = 0;
    std::optional<std::uint64_t> high;
  };
  Interval confidence(double share) const;
  // The number of samples that exceed the value (in buckets: those whose bucket begins above it).
  std::uint64_t above(std::uint64_t value) const;

 private:
  // With buckets, this many samples wait to be counted together.
  static constexpr std::size_t kMaxWaiting = 1024;

  const Distribution& settled() const {
    if (samples_.size() != counted_) settle();
    return *this;
  }
  void add_with_room(std::uint64_t value);
  // Counts the samples that were only noted so far.
  void settle() const;
  void count_waiting() const;
  void fill_buckets() const;
  void sort() const;
  void add_to_bucket(std::uint64_t value, std::uint64_t times) const;

  // add() only notes the sample; sums are computed for many samples at once, in their order, when a
  // figure is asked for. So all of these are mutable.
  mutable std::uint64_t count_ = 0;
  mutable std::uint64_t min_ = UINT64_MAX;
  mutable std::uint64_t max_ = 0;
  mutable double sum_ = 0;
  // Squares are of distances to one of the samples, so that they do not lose precision if all
  // samples are near each other and far from 0.
  mutable std::uint64_t origin_ = 0;
  mutable double distances_ = 0;
  mutable double squares_ = 0;
  mutable PlainVector<std::uint64_t> samples_;  // sorted when asked; with buckets: that wait
  mutable std::size_t counted_ = 0;             // of those
  mutable std::size_t sorted_ = 0;              // of those
  mutable std::size_t max_waiting_ = kExactSamples + 1;
  mutable std::size_t until_ = 0;  // there is room, and no more than may wait
  // One row of buckets for each power of two, made when first used.
  mutable std::vector<std::vector<std::uint64_t>> buckets_;
};

}  // namespace sojourn::statistics
