// A column for each name that fields of a trace's points have. A name that a point has twice is two
// columns: "psn", "psn_2". Immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/exports/rows.h"
#include "analysis/model/known_id.h"
#include "analysis/model/schema.h"

namespace sojourn::exports {

class FieldColumns {
 public:
  using IsWanted = std::function<bool(const model::Point&, const model::Field&)>;

  // Names begin with the prefix.
  FieldColumns(const model::Schema& schema, std::string_view prefix, const IsWanted& is_wanted);

  const std::vector<Column>& columns() const { return columns_; }

  // Writes an event's values into its columns. A value that could not be read stays empty.
  void fill(model::PointId point, std::span<const std::uint64_t> values,
            std::span<Cell> cells) const;
  // Writes single ids; the first of a column counts.
  void fill(std::span<const model::KnownId> ids, std::span<Cell> cells) const;

 private:
  struct PointFields {
    std::vector<std::optional<std::size_t>> columns;  // by field
    std::optional<std::size_t> unread;                // the field that says which were not read
  };

  std::size_t column_of(std::string_view prefix, const model::Field& field, std::size_t which);

  std::vector<Column> columns_;
  std::vector<PointFields> points_;
};

// Returns whether a field is a column of events, or of a packet's ids.
bool is_event_field(const model::Point& point, const model::Field& field);
bool is_id_field(const model::Point& point, const model::Field& field);

}  // namespace sojourn::exports
