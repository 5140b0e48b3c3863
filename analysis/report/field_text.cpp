#include "analysis/report/field_text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/links.h"
#include "analysis/model/unread.h"
#include "analysis/report/text_format.h"

namespace sojourn::report {
namespace {

using model::Role;
using nlohmann::ordered_json;

bool is_unread(const model::Point& point, std::size_t field,
               std::span<const std::uint64_t> values) {
  return (model::unread_bits(model::unread_field(point), values) >> field & 1) != 0;
}

ordered_json value_json(const model::Point& point, std::size_t field,
                        std::span<const std::uint64_t> values) {
  if (is_unread(point, field, values)) return nullptr;
  if (point.fields[field].is_signed) return static_cast<std::int64_t>(values[field]);
  return values[field];
}

}  // namespace

ValueForm form_of(const model::Point& point, std::size_t field) {
  return {.is_signed = point.fields[field].is_signed,
          .is_hexadecimal = model::is_hexadecimal(point, field)};
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

std::string value_text(const model::Point& point, std::size_t field,
                       std::span<const std::uint64_t> values) {
  if (is_unread(point, field, values)) return "?";
  fmt::memory_buffer text;
  append_value(text, form_of(point, field), values[field]);
  return fmt::to_string(text);
}

std::string ids_text(const model::Point& point, std::span<const std::uint64_t> values) {
  std::string text;
  for (std::size_t i = 0; i < point.fields.size(); ++i)
    if (point.fields[i].role != Role::kProperty && !model::is_reserved(point.fields[i].name))
      text += fmt::format(" {} {}", printable(point.fields[i].name), value_text(point, i, values));
  return text;
}

ordered_json values_json(const model::Point& point, std::span<const std::uint64_t> values,
                         bool properties) {
  auto object = ordered_json::object();
  for (std::size_t i = 0; i < point.fields.size(); ++i) {
    const std::string& name = point.fields[i].name;
    if ((point.fields[i].role == Role::kProperty) != properties || model::is_auxiliary_field(name))
      continue;
    ordered_json value = value_json(point, i, values);
    const auto is_namesake = [&](const model::Field& other) {
      return other.name == name && (other.role == Role::kProperty) == properties;
    };
    if (std::ranges::count_if(point.fields, is_namesake) > 1)
      object[name].push_back(std::move(value));
    else
      object[name] = std::move(value);
  }
  return object;
}

}  // namespace sojourn::report
