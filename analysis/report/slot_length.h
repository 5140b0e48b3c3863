// The length of a slot, learnt from events with slot numbers: the time from a number's first event
// to the first of the next number, at the point where it varies least. One thread owns a
// SlotLength.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::report {

class SlotLength {
 public:
  explicit SlotLength(const model::Schema& schema);

  void consume(const model::EventBatch& events);

  struct Length {
    std::uint64_t ns = 0;
    std::uint64_t slots = 0;   // from so many
    model::PointId point = 0;  // of this point
  };
  // Nothing if too few consecutive slots have events.
  std::optional<Length> length() const;

 private:
  struct Clock {
    std::optional<std::size_t> field;
    bool begun = false;
    std::uint64_t number = 0;
    std::uint64_t since_ns = 0;  // the number's first event
    std::vector<std::uint64_t> spans_ns;
  };

  std::vector<Clock> clocks_;  // by point
};

}  // namespace sojourn::report
