// The correlation of two series: Pearson's coefficient (for a straight line) and Spearman's (for
// any rising line). Plain functions without state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sojourn::differential {

// A correlation coefficient with its 95 % interval.
struct Correlation {
  double value = 0;
  double low = -1;
  double high = 1;
};

// Correlation of pairs that are independent of each other. Nothing with fewer than four pairs, or
// if one of the two is constant.
std::optional<Correlation> pearson(std::span<const double> x, std::span<const double> y);
std::optional<Correlation> spearman(std::span<const double> x, std::span<const double> y);

// Correlation of pairs in the order of time, in which neighbours depend on each other. The interval
// comes from leaving out one block at a time.
std::optional<Correlation> pearson(std::span<const float> x, std::span<const float> y,
                                   std::size_t blocks);
std::optional<Correlation> spearman(std::span<const float> x, std::span<const float> y,
                                    std::size_t blocks);

// From 1; equal values share the middle of theirs.
std::vector<double> midranks(std::span<const double> values);
std::vector<float> midranks(std::span<const float> values);

}  // namespace sojourn::differential
