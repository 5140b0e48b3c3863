// Selects the items that a table of queues counts. Without a function all count; else those that
// entered by a wanted event, from then until they leave.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/model/event.h"

namespace sojourn::queues {

struct ItemSelection {
  std::function<bool(const model::EventView&)> wants = {};
  std::uint64_t from_ns = 0;  // no item is wanted outside: rates and means are over this time
  std::uint64_t until_ns = UINT64_MAX;

  bool is_selective() const { return wants != nullptr; }
  bool operator()(const model::EventView& event) const { return !wants || wants(event); }
};

}  // namespace sojourn::queues
