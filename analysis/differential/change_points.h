// Finds where a series of independent values, such as the means of runs in their order, changes its
// level. Plain functions without state.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sojourn::differential {

struct ChangePoint {
  std::size_t at = 0;  // the first value of the new level
  double before = 0;   // medians of the values up to the change points around it
  double after = 0;
  double p = 1;  // the probability that a series in random order has such a split
};

// The fewest values in which a change can be found at all.
inline constexpr std::size_t kFewestForChange = 6;

// Returns the changes in their order. The split at which the ranks of both sides differ most is
// tested by permutations of the series: all of them up to seven values, else 9,999 that are always
// the same ones. If it is a change, both sides are searched in the same way. A level that comes and
// soon goes back may hide from one split. `level` is that of each test.
std::vector<ChangePoint> change_points(std::span<const double> series, double level);

// The number of values that is needed to find a change in their middle at this level.
std::size_t values_for_change(double level);

}  // namespace sojourn::differential
