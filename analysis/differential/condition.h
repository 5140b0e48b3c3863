// A condition of `sojourn diff --fail-on`, "p99(D) > +5%", which makes a comparison of two sides
// fail. Plain functions without state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/differential/comparison.h"

namespace sojourn::differential {

struct Condition {
  std::string text;
  double share = 0;  // of a quantile; kMean
  char direction = 'D';
  std::string place;    // empty: the latency
  bool is_more = true;  // '>': a rise by more than `by`, '<': a fall
  bool is_percent = true;
  double by = 0;  // of percent: a share of the base's figure; else ns. Below 0: a fall
};

// FIGURE(DIRECTION [PLACE]) > +LIMIT or < -LIMIT, where the figure is mean, p50, p90, p95, p99 or
// p999, and the limit in percent or a time.
Result<Condition> parse_condition(std::string_view text);

enum class Finding : std::uint8_t { kHolds, kDoesNotHold, kTooLittle };

struct Checked {
  Finding finding = Finding::kTooLittle;
  std::string why;  // "p99 of D changed by +7.1 % [+5.9, +8.3]"
};
// The condition is decided if the whole 95 % interval of the shift is on one side of the limit.
Checked check(const Condition& condition, std::span<const Comparison> all);

}  // namespace sojourn::differential
