// The differences between the profiles of two machines, for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/differential/host_diff.h"

namespace sojourn::present {

std::string host_diff_text(const differential::HostDiff& diff, std::size_t width = SIZE_MAX);

}  // namespace sojourn::present
