#include "analysis/model/value_text.h"

#include <iterator>

#include "analysis/model/unread.h"

namespace sojourn::model {

bool is_unread(const Point& point, std::size_t field, std::span<const std::uint64_t> values) {
  return (unread_bits(unread_field(point), values) >> field & 1) != 0;
}

ValueForm form_of(const Point& point, std::size_t field) {
  return {.is_signed = point.fields[field].is_signed,
          .is_hexadecimal = is_hexadecimal(point, field)};
}

void append_value(fmt::memory_buffer& out, ValueForm form, std::uint64_t value) {
  const auto into = std::back_inserter(out);
  const auto number = static_cast<std::int64_t>(value);
  if (form.is_signed && number < 0)
    fmt::format_to(into, "{}", number);
  else if (form.is_hexadecimal)
    fmt::format_to(into, "{:#x}", value);
  else
    fmt::format_to(into, "{}", value);
}

std::string value_text(const Point& point, std::size_t field,
                       std::span<const std::uint64_t> values) {
  if (is_unread(point, field, values)) return "?";
  fmt::memory_buffer text;
  append_value(text, form_of(point, field), values[field]);
  return fmt::to_string(text);
}

}  // namespace sojourn::model
