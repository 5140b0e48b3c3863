// Summarises many samples of one measurement: by the study's figures (10 % trimmed mean and
// standard deviation), by those that outliers do not move (median and quartiles), and whether they
// are stable. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sojourn::host {

struct SampleSummary {
  std::uint64_t count = 0;
  double mean = 0;   // without the lowest and the highest tenth of the samples
  double stdev = 0;  // of the same
  double min = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double max = 0;

  // The width of the middle half of the samples, as a share of the median.
  double spread() const { return median != 0 ? (q3 - q1) / median : 0; }
  bool operator==(const SampleSummary&) const = default;
};

// Samples that are no finite numbers are left out.
SampleSummary summarise(std::vector<double> samples);

// The value of a quantile, interpolated between its two neighbours.
double quantile_of_sorted(std::span<const double> sorted, double share);

// The limits of the middle half's spread, and of the difference between the two halves of a run.
inline constexpr double kStableSpread = 0.10;
inline constexpr double kStableDrift = 0.05;
inline constexpr std::size_t kFewestSamples = 8;

// Returns the reason why samples are unstable, or an empty text. The samples are in the order in
// which they were taken. Differences up to `resolution` do not count.
std::string why_unstable(std::span<const double> samples, double resolution = 0);

}  // namespace sojourn::host
