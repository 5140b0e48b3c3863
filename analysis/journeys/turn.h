// When something became known in a rebuild: what several rebuilders tell, each of its own part of
// the same events, is put into the order in which one rebuilder of all would tell it. Plain data.
#pragma once

#include <compare>
#include <cstdint>

namespace sojourn::journeys {

struct Turn {
  // What a rebuilder does at an event, in this order.
  enum class Phase : std::uint8_t {
    kOutputs,  // ends journeys that are anchored at their output and had to wait,
    kInputs,   // and those that are anchored at their input
    kUnits,    // gives up units that nothing comes of any more
    kEvent,    // ties the event, or one that waited
  };

  std::uint64_t position = 0;  // of the event, counting from 1; one more at the end
  std::uint64_t now_ns = 0;    // less than the event's time where one that waited is tied
  Phase phase = Phase::kOutputs;

  auto operator<=>(const Turn&) const = default;
};

}  // namespace sojourn::journeys
