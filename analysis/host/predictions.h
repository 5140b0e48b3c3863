// Predicts the cost of each measurement from costs below it: the hardware's share and the
// software's, as the study estimates them before it measures. It also explains deviations. Pure
// functions.
#pragma once

#include "analysis/host/host_profile.h"

namespace sojourn::host {

// From here on a deviation is explained, or said not to be.
inline constexpr double kLargeDeviation = 0.5;

// Fills in hardware, software, basis and reason of all measurements.
void predict(HostProfile& profile);

}  // namespace sojourn::host
