// Decides what share of the packets a live view rebuilds, by the processor time that it takes. The
// first choice comes after two seconds that were too expensive, others only where the cost has
// become another: each choice begins the figures anew. Plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sojourn::live {

class ViewBudget {
 public:
  // `share` of one core.
  explicit ViewBudget(double share) : share_(share) {}

  // Takes the processor time that the view, and the rebuild alone, needed for a span of the trace.
  // Returns the share of packets to rebuild from now on, or nothing if it stays as it is.
  std::optional<double> note(std::uint64_t span_ns, std::uint64_t took_ns,
                             std::uint64_t rebuild_ns) {
    if (span_ns < kLeastSpanNs) return std::nullopt;
    const double budget = share_ * static_cast<double>(span_ns);
    const auto took = static_cast<double>(took_ns);
    const bool is_over = took > kOver * budget;
    const bool is_under = kept_ < 1 && took < kUnder * budget;
    spans_over_ = is_over ? spans_over_ + 1 : 0;
    spans_under_ = is_under ? spans_under_ + 1 : 0;
    if (spans_over_ < kMaxSpansOver && spans_under_ < kMaxSpansUnder) return std::nullopt;
    spans_over_ = spans_under_ = 0;
    const double rebuild = std::max(static_cast<double>(rebuild_ns), 1.0);
    const double left = kAim * budget - (took - std::min(took, rebuild));
    const double wanted = std::clamp(kept_ * left / rebuild, kLeast, 1.0);
    // A change of little effect is not worth a new choice.
    if (wanted > kept_ / kWorthwhile && wanted < kept_ * kWorthwhile) return std::nullopt;
    kept_ = wanted;
    return kept_;
  }
  double kept() const { return kept_; }
  void keep_all() { kept_ = 1; }

 private:
  static constexpr std::uint64_t kLeastSpanNs = 400'000'000;
  static constexpr double kOver = 1.1;
  static constexpr double kUnder = 0.4;
  static constexpr double kAim = 0.9;
  static constexpr double kWorthwhile = 1.2;
  static constexpr double kLeast = 1.0 / 256;
  static constexpr unsigned kMaxSpansOver = 2;
  static constexpr unsigned kMaxSpansUnder = 30;

  double share_;
  double kept_ = 1;  // of the packets
  unsigned spans_over_ = 0;
  unsigned spans_under_ = 0;
};

}  // namespace sojourn::live
