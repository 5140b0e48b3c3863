// Tests whether several samples come from one distribution: the k-sample Anderson-Darling test of
// Scholz and Stephens (1987), in both of its forms. Its values must be independent of each other:
// packets are not, runs and long blocks of a run are (blocks.h). Plain functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sojourn::differential {

using Samples = std::span<const std::vector<double>>;

struct AndersonDarling {
  double continuous = 0;  // A2 of the paper's equation 6: no two values are equal
  double midrank = 0;     // of equation 7: equal values share the middle of their ranks
  double stdev = 0;       // of A2 among samples of these sizes; 0: of fewer than four values
  std::size_t samples = 0;

  // T of the paper: how far A2 is from its mean, in standard deviations.
  double standardised(double a2) const { return (a2 - static_cast<double>(samples - 1)) / stdev; }
};

// The k-sample Anderson-Darling test; none where there are fewer than two samples, or one is empty.
std::optional<AndersonDarling> anderson_darling(Samples samples);

struct PValue {
  double continuous = 1;
  double midrank = 1;
  bool is_exact = false;  // from all ways to deal the values out, not from the limit
};
// The probability that samples of one distribution differ as much. If there are at most `max_deals`
// ways to deal the values out, all are tried; otherwise it comes from the limit distribution,
// standardised.
PValue p_value(Samples samples, const AndersonDarling& found, std::uint64_t max_deals = 20'000);

// The least p-value that such a test of two samples can give for any values: one-sided (only one
// sample is greater) or two-sided.
double smallest_p(std::size_t first, std::size_t second, bool is_one_sided);

// The probability that A2 exceeds `a2`, in the limit of large samples, computed from the
// characteristic function. `order` is the number of samples minus 1. Errors are below 1e-10, so a
// smaller result than kLeastLimitP would be rounding noise: kLeastLimitP is returned instead.
constexpr double kLeastLimitP = 1e-9;
double anderson_darling_limit(double a2, std::size_t order);

}  // namespace sojourn::differential
