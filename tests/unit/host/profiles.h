// Profiles of machines that do not exist.
#pragma once

#include <string>

#include "analysis/host/host_profile.h"

namespace sojourn::host {

// A measurement whose middle half is a twentieth around the median.
Measurement measured(const std::string& id, double median, Unit unit = Unit::kNs);

// One of each kind, every member with a value of its own.
HostProfile whole_profile();

}  // namespace sojourn::host
