// A depth over time, in at most kMaxStretches stretches of equal length: the mean and the largest
// depth of each. If there would be more, stretches double in length, so memory is bounded for any
// length of a trace. One thread owns a DepthSeries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sojourn::queues {

class DepthSeries {
 public:
  static constexpr std::size_t kMaxStretches = 2048;
  static constexpr std::uint64_t kFinestNs = 100'000;

  // Adds a depth that lasted for [from, to). In the order of time; gaps are empty stretches.
  void add(std::uint64_t depth, std::uint64_t from_ns, std::uint64_t to_ns);

  struct Stretch {
    double weighted_ns = 0;        // depth times time
    std::uint64_t covered_ns = 0;  // the part in which the depth is known
    std::uint64_t max = 0;
  };
  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t stretch_ns() const { return stretch_ns_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  // The mean over the part in which the depth is known; none: it is not known at all.
  std::optional<double> mean(std::size_t stretch) const {
    const Stretch& one = stretches_[stretch];
    if (one.covered_ns == 0) return std::nullopt;
    return one.weighted_ns / static_cast<double>(one.covered_ns);
  }

 private:
  void halve();

  std::uint64_t begin_ns_ = 0;
  std::uint64_t stretch_ns_ = kFinestNs;
  std::vector<Stretch> stretches_;
};

}  // namespace sojourn::queues
