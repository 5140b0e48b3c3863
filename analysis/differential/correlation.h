// How strongly two series rise and fall together: Pearson's coefficient (in a straight line) and
// Spearman's (in whatever line that only rises). Plain functions without state.
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

// Correlation of pairs that are independent of each other. None where there are fewer than four
// pairs, or where one of the two never changes.
std::optional<Correlation> pearson(std::span<const double> x, std::span<const double> y);
std::optional<Correlation> spearman(std::span<const double> x, std::span<const double> y);

// Correlation of pairs in the order of time, of which neighbours depend on each other. The interval
// comes from leaving out one of so many blocks at a time.
std::optional<Correlation> pearson(std::span<const float> x, std::span<const float> y,
                                   std::size_t blocks);
std::optional<Correlation> spearman(std::span<const float> x, std::span<const float> y,
                                    std::size_t blocks);

// From 1; equal values share the middle of theirs.
std::vector<double> midranks(std::span<const double> values);
std::vector<float> midranks(std::span<const float> values);

}  // namespace sojourn::differential
