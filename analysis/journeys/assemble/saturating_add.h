// A sum of an instant and a span that does not overflow.
#pragma once

#include <cstdint>

namespace sojourn::journeys {

// The result is never before `ts_ns`, however long the span is.
constexpr std::uint64_t saturating_add(std::uint64_t ts_ns, std::uint64_t by_ns) {
  if (by_ns >= UINT64_MAX - ts_ns) return UINT64_MAX;
  return ts_ns + by_ns;
}

}  // namespace sojourn::journeys
