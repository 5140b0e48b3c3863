// The number of times of each length, in buckets whose width is a fixed share of the time. Memory
// does not depend on their number: a row of buckets for each power of two that occurred. One thread
// owns a TimeHistogram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sojourn::live {

class TimeHistogram {
 public:
  // A power of two is cut into 2^step_bits buckets: 7 are 0.8 % of a time, 10 are 0.1 %.
  explicit TimeHistogram(unsigned step_bits);

  void add(std::uint64_t value, std::uint64_t times = 1);
  void merge(const TimeHistogram& other);  // of as many steps
  void clear();                            // keeps the memory

  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }
  // By nearest rank: the middle of its bucket, but the maximum exactly. 0 if it is empty.
  std::uint64_t quantile(double share) const;

 private:
  struct Bucket {
    std::size_t row = 0;
    std::size_t step = 0;
  };
  Bucket bucket_of(std::uint64_t value) const;
  std::uint64_t middle_of(Bucket bucket) const;

  unsigned step_bits_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  std::vector<std::vector<std::uint64_t>> rows_;  // each empty until it is needed
  std::vector<std::uint64_t> in_row_;             // so that a quantile looks into one row
};

}  // namespace sojourn::live
