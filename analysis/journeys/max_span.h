// The longest of some spans, which is an expectation once enough of them were seen.
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

  // Far longer than any before it; so much longer that it was never seen to end.
  bool is_suspicious(std::uint64_t span_ns) const {
    return known() && span_ns > kFarFactor * longest_ns_;
  }
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
