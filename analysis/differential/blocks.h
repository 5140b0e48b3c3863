// The information in a series of packets. Packets that share a queue are late together: 5,000 of
// them behind a queue at 90 % load are worth no more than 14 independent ones. So a series is cut
// into blocks that are long against the time for which packets resemble each other, and blocks are
// compared. Plain functions without state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sojourn::differential {

struct EffectiveSize {
  double count = 0;  // the number of independent values with the same information; 0: unknown
  double inefficiency = 1;  // packets for each of them
};
// Estimated from the autocorrelation of up to 1,024 slices (Geyer's initial positive sequence).
EffectiveSize effective_size(std::span<const float> series);

// Blocks that are practically independent: each is at least kBlockFactor times as long as packets
// resemble each other. If there would be fewer than kMinBlocks, there are too little data and no
// blocks.
inline constexpr std::size_t kMinBlocks = 8;
inline constexpr std::size_t kMaxBlocks = 64;
inline constexpr double kBlockFactor = 5;
struct Blocks {
  std::size_t count = 0;
  std::size_t length = 0;  // values in each block; a remainder at the end is in none
  std::span<const float> of(std::span<const float> series, std::size_t block) const {
    return series.subspan(block * length, length);
  }
};
std::optional<Blocks> independent_blocks(std::span<const float> series, const EffectiveSize& size);
// The length of blocks for several series that are compared. All have one length, since means of
// shorter blocks differ more.
std::size_t common_block_length(std::span<const std::vector<float>> runs);
Blocks blocks_of_length(std::span<const float> series, std::size_t length);

double mean(std::span<const float> values);
double mean(std::span<const double> values);
// The smallest value that at least this share does not exceed; `values` are put in another order.
double quantile(std::vector<float>& values, double share);

// A mean of independent values, and how far off it may be.
struct MeanError {
  double mean = 0;
  double variance_of_mean = 0;
  double freedom = 0;  // degrees of it
};
std::optional<MeanError> mean_error(std::span<const double> values);  // nothing with fewer than two
// Half of the 95 % interval of the difference of two means (Welch).
double half_interval_of_difference(const MeanError& left, const MeanError& right);
// t of the two-sided 95 % interval.
double student_t_95(double freedom);

}  // namespace sojourn::differential
