#include "analysis/exports/field_columns.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "analysis/model/links.h"
#include "analysis/model/unread.h"

namespace sojourn::exports {

namespace {

Cell cell_of(CellType type, std::uint64_t value) {
  if (type == CellType::kInteger) return static_cast<std::int64_t>(value);
  return value;
}

// The number of fields of that name before this one.
std::size_t rank_of(const model::Point& point, std::size_t field) {
  const auto before = std::span(point.fields).first(field);
  return static_cast<std::size_t>(
      std::ranges::count(before, point.fields[field].name, &model::Field::name));
}

}  // namespace

bool is_event_field(const model::Point& /*point*/, const model::Field& field) {
  return !model::is_auxiliary_field(field.name);
}

bool is_id_field(const model::Point& point, const model::Field& field) {
  const bool is_of_packets = point.direction == model::Direction::kDownlink ||
                             point.direction == model::Direction::kUplink;
  return is_of_packets && field.role != model::Role::kProperty && !model::is_reserved(field.name);
}

FieldColumns::FieldColumns(const model::Schema& schema, std::string_view prefix,
                           const IsWanted& is_wanted) {
  for (const model::Point& point : schema.points) {
    PointFields& fields = points_.emplace_back();
    fields.unread = model::unread_field(point);
    for (std::size_t at = 0; at < point.fields.size(); ++at) {
      auto& column = fields.columns.emplace_back();
      if (is_wanted(point, point.fields[at]))
        column = column_of(prefix, point.fields[at], rank_of(point, at));
    }
  }
}

// A name that is signed here and unsigned there is two columns: neither holds all values of both.
std::size_t FieldColumns::column_of(std::string_view prefix, const model::Field& field,
                                    std::size_t which) {
  std::string name = fmt::format("{}{}", prefix, field.name);
  if (which != 0) name += fmt::format("_{}", which + 1);
  const CellType type = field.is_signed ? CellType::kInteger : CellType::kUnsigned;
  for (;;) {
    const auto known = std::ranges::find(columns_, name, &Column::name);
    if (known == columns_.end()) break;
    if (known->type == type) return static_cast<std::size_t>(known - columns_.begin());
    name += field.is_signed ? "_signed" : "_unsigned";
  }
  columns_.push_back({.name = std::move(name), .type = type});
  return columns_.size() - 1;
}

void FieldColumns::fill(model::PointId point, std::span<const std::uint64_t> values,
                        std::span<Cell> cells) const {
  const PointFields& fields = points_[point];
  const std::uint64_t unread = model::unread_bits(fields.unread, values);
  for (std::size_t at = 0; at < std::min(values.size(), fields.columns.size()); ++at) {
    const auto& column = fields.columns[at];
    if (column && (unread >> at & 1U) == 0)
      cells[*column] = cell_of(columns_[*column].type, values[at]);
  }
}

void FieldColumns::fill(std::span<const model::KnownId> ids, std::span<Cell> cells) const {
  for (const model::KnownId& id : ids) {
    const auto& column = points_[id.point].columns[id.field];
    if (column && id.is_read && std::holds_alternative<std::monostate>(cells[*column]))
      cells[*column] = cell_of(columns_[*column].type, id.value);
  }
}

}  // namespace sojourn::exports
