#include "analysis/present/words/field_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/links.h"
#include "analysis/model/value_text.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using model::Role;
using nlohmann::ordered_json;

ordered_json value_json(const model::Point& point, std::size_t field,
                        std::span<const std::uint64_t> values) {
  if (model::is_unread(point, field, values)) return nullptr;
  if (point.fields[field].is_signed) return static_cast<std::int64_t>(values[field]);
  return values[field];
}

}  // namespace

std::string ids_text(const model::Point& point, std::span<const std::uint64_t> values) {
  std::string text;
  for (std::size_t i = 0; i < point.fields.size(); ++i)
    if (point.fields[i].role != Role::kProperty && !model::is_reserved(point.fields[i].name))
      text += fmt::format(" {} {}", printable(point.fields[i].name),
                          model::value_text(point, i, values));
  return text;
}

std::string ids_text(const model::Schema& schema, std::span<const model::KnownId> ids) {
  std::string text;
  for (const model::KnownId& id : ids) {
    const model::Point& point = schema.points[id.point];
    fmt::memory_buffer value;
    model::append_value(value, model::form_of(point, id.field), id.value);
    text += fmt::format(" {} {}", printable(point.fields[id.field].name),
                        id.is_read ? fmt::to_string(value) : "?");
  }
  return text;
}

ordered_json ids_json(const model::Schema& schema, std::span<const model::KnownId> ids) {
  auto object = ordered_json::object();
  for (const model::KnownId& id : ids) {
    const model::Field& field = schema.points[id.point].fields[id.field];
    ordered_json value = field.is_signed ? ordered_json(static_cast<std::int64_t>(id.value))
                                         : ordered_json(id.value);
    object[field.name] = id.is_read ? std::move(value) : ordered_json(nullptr);
  }
  return object;
}

bool are_from_elsewhere(model::PointId own, std::span<const model::KnownId> ids) {
  return std::ranges::any_of(ids, [&](const model::KnownId& id) { return id.point != own; });
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

}  // namespace sojourn::present
