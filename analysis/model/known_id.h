// An id of a packet, from any of its events. Plain data.
#pragma once

#include <cstdint>

#include "analysis/model/schema.h"

namespace sojourn::model {

// A field of a point, and its value at an event of that point.
struct KnownId {
  PointId point = 0;
  std::uint32_t field = 0;
  std::uint64_t value = 0;
  bool is_read = true;  // false: the target's memory could not be read

  bool operator==(const KnownId&) const = default;
};

}  // namespace sojourn::model
