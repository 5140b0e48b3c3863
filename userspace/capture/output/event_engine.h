// A source of the target's own events: a way for the hits of its points to leave it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "userspace/capture/output/source.h"

namespace sojourn::capture {

class EventEngine : public Source {
 public:
  // Switches points off, or on again. Hits while they are off are not counted. Points of other
  // engines are skipped.
  virtual Result<void> switch_points(std::span<const model::PointId> points, bool on) = 0;

  virtual std::size_t sites() const = 0;
  virtual std::string mechanism() const = 0;  // for the trace's metadata
  virtual std::uint64_t stamp_error_ns() const { return 0; }

  // The earliest time of an event, for a target that recorded before the capture.
  virtual std::uint64_t earliest_ns() const { return UINT64_MAX; }
};

}  // namespace sojourn::capture
