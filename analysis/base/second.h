// A second in the unit of all times here.
#pragma once

#include <cstdint>

namespace sojourn {

inline constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

}  // namespace sojourn
