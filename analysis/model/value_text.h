// An event's values as people read them, the same wherever they are shown. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "analysis/model/schema.h"

namespace sojourn::model {

// How a field's values are written, looked up once where many are: in the base in which people know
// them (is_hexadecimal), below zero in decimal. The filter language reads it back as it is.
struct ValueForm {
  bool is_signed = false;
  bool is_hexadecimal = false;
};
ValueForm form_of(const Point& point, std::size_t field);
void append_value(fmt::memory_buffer& out, ValueForm form, std::uint64_t value);

// Whether the target's memory could not be read for it.
bool is_unread(const Point& point, std::size_t field, std::span<const std::uint64_t> values);

// "?" where it is unread.
std::string value_text(const Point& point, std::size_t field,
                       std::span<const std::uint64_t> values);

}  // namespace sojourn::model
