// Formats an event's values for people, the same wherever they are shown. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "analysis/model/schema.h"

namespace sojourn::model {

// The format of a field's values, looked up once for many values: hexadecimal or decimal (see
// is_hexadecimal), negative values in decimal. The filter language can read the text.
struct ValueForm {
  bool is_signed = false;
  bool is_hexadecimal = false;
};
ValueForm form_of(const Point& point, std::size_t field);
void append_value(fmt::memory_buffer& out, ValueForm form, std::uint64_t value);

// Returns whether the value could not be read in the target's memory.
bool is_unread(const Point& point, std::size_t field, std::span<const std::uint64_t> values);

// The value's text; "?" if it is unread.
std::string value_text(const Point& point, std::size_t field,
                       std::span<const std::uint64_t> values);

}  // namespace sojourn::model
