// Finds the knees of a curve, at which it leaves one plateau for the next: the working set that no
// longer fits a cache. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sojourn::host {

struct CurvePoint {
  double x = 0;  // above 0, rising
  double y = 0;  // above 0
  double q1 = 0;
  double q3 = 0;

  bool operator==(const CurvePoint&) const = default;
};

// The last point of a plateau: the rise begins behind it.
struct Knee {
  double x = 0;
  double before = 0;  // the height of the plateau that ends here
  double after = 0;   // the end of the rise

  bool operator==(const Knee&) const = default;
};

// A dip is taken for noise, because a larger x never costs less. Points that are not above 0 are
// left out.
std::vector<Knee> find_knees(std::span<const CurvePoint> curve);

}  // namespace sojourn::host
