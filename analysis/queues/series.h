// A depth over time, in at most kMost stretches of equal length: how deep it was on average and at
// most in each. They become twice as long when the time needs more of them, so memory is bounded
// whatever the length of a trace. One thread owns a Series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sojourn::queues {

class Series {
 public:
  static constexpr std::size_t kMost = 2048;
  static constexpr std::uint64_t kFinest_ns = 100'000;

  // The depth was that in [from, to). In the order of time; gaps are empty stretches.
  void add(std::uint64_t depth, std::uint64_t from_ns, std::uint64_t to_ns);

  struct Stretch {
    double weighted_ns = 0;  // depth times time
    std::uint64_t max = 0;
  };
  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t stretch_ns() const { return stretch_ns_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  double mean(std::size_t stretch) const {
    return stretches_[stretch].weighted_ns / static_cast<double>(stretch_ns_);
  }

 private:
  void halve();

  std::uint64_t begin_ns_ = 0;
  std::uint64_t stretch_ns_ = kFinest_ns;
  std::vector<Stretch> stretches_;
};

}  // namespace sojourn::queues
