// Marks the values of an event that could not be read in the target's memory, e.g. behind an
// invalid pointer. Such a value is 0 in the event and means nothing. A point that can have unread
// values ends with a property of a reserved name, which has a bit for each field, from the first.
// No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/model/schema.h"

namespace sojourn::model {

constexpr std::string_view kUnreadField = "unread-fields";

// The index of that property; none: all values are always read.
inline std::optional<std::size_t> unread_field(const Point& point) {
  return point.field(kUnreadField);
}

// The bits, of one event's values.
inline std::uint64_t unread_bits(std::optional<std::size_t> field,
                                 std::span<const std::uint64_t> values) {
  return field && *field < values.size() ? values[*field] : 0;
}

}  // namespace sojourn::model
