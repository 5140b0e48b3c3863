// The minimum time of a stay on a machine, with which `explain` compares stays. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/host/host_profile.h"

namespace sojourn::host {

// How a unit left a place: by the thread that brought it, or by another one.
enum class Handover : std::uint8_t { kSameThread, kOtherThread };

struct Floor {
  double ns = 0;
  std::string words;  // "waking a thread on another CPU takes 3.1 us here"
};

// The least that a hand-over takes; none where that was not measured, or was not stable.
std::optional<Floor> floor_of(const HostProfile& profile, Handover handover);

// A median stay up to this many times the floor is as fast as the machine allows.
inline constexpr double kAsFastAsItGets = 1.5;
bool is_as_fast_as_allowed(double median_ns, const Floor& floor);

}  // namespace sojourn::host
