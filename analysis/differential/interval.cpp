// The part of blocks.h that takes a distribution's quantile: Boost.Math's.
#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "analysis/differential/blocks.h"
#include "analysis/differential/quiet_math.h"

namespace sojourn::differential {

double half_interval_of_difference(const MeanError& left, const MeanError& right) {
  const double variance = left.variance_of_mean + right.variance_of_mean;
  if (variance == 0) return 0;
  const double freedom = variance * variance /
                         (left.variance_of_mean * left.variance_of_mean / left.freedom +
                          right.variance_of_mean * right.variance_of_mean / right.freedom);
  return student_t_95(freedom) * std::sqrt(variance);
}

double student_t_95(double freedom) {
  using StudentsT = boost::math::students_t_distribution<double, QuietMath>;
  return boost::math::quantile(StudentsT(std::max(freedom, 1.0)), 0.975);
}

}  // namespace sojourn::differential
