// The position of a call in a rebuild. By their turns the calls of several rebuilders, each with
// its own part of the same events, are put into the order of a single rebuilder. Plain data.
#pragma once

#include <compare>
#include <cstdint>

namespace sojourn::journeys {

struct Turn {
  // The steps of a rebuilder at an event, in this order.
  enum class Phase : std::uint8_t {
    kOutputs,  // ends journeys that are anchored at their output and had to wait,
    kInputs,   // and those that are anchored at their input
    kUnits,    // gives up units that cannot have a child any more
    kEvent,    // ties the event, or an earlier one that waited
  };

  std::uint64_t position = 0;  // of the event, counting from 1; one more at the end
  std::uint64_t now_ns = 0;    // earlier than the event, if it ties one that waited
  Phase phase = Phase::kOutputs;

  auto operator<=>(const Turn&) const = default;
};

}  // namespace sojourn::journeys
