// The longest of some spans. Once enough of them were seen, it is an upper bound for the next ones.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sojourn::journeys {

class MaxSpan {
 public:
  void note(std::uint64_t span_ns) {
    ++samples_;
    longest_ns_ = std::max(longest_ns_, span_ns);
  }
  bool known() const { return samples_ >= kEnoughSamples; }
  std::uint64_t ns() const { return longest_ns_; }

  // The span is far longer than any before it.
  bool is_suspicious(std::uint64_t span_ns) const {
    return known() && span_ns > kFarFactor * longest_ns_;
  }
  // Returns whether the span is far longer than any before it, so that its end was surely not seen.
  bool is_stale(std::uint64_t span_ns) const {
    return known() && span_ns > kFarFactor * longest_ns_ + kStaleFloorNs;
  }

 private:
  static constexpr std::uint64_t kFarFactor = 4;
  static constexpr std::uint64_t kStaleFloorNs = 1'000'000'000;
  static constexpr std::uint64_t kEnoughSamples = 100;

  std::uint64_t samples_ = 0;
  std::uint64_t longest_ns_ = 0;
};

}  // namespace sojourn::journeys
