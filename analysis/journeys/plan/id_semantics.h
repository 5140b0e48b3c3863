// The meaning of the ids of a schema's points, by the words of the rules. The schema and the rules
// must outlive it. Immutable.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/journeys/plan/point_fields.h"
#include "analysis/journeys/rules.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

class IdSemantics {
 public:
  using Ids = std::vector<std::string>;

  IdSemantics(const model::Schema& schema, const Rules& rules) : schema_(schema), rules_(rules) {
    ids_.reserve(schema.points.size());
    for (const auto& point : schema.points) ids_.push_back(ids(point));
  }

  const model::Schema& schema() const { return schema_; }
  // The ids of a point, sorted and without duplicates.
  const Ids& of(model::PointId point) const { return ids_[point]; }

  bool is_sequence(const std::string& id) const { return rules_.is_sequence(id); }
  bool is_process(const std::string& id) const { return rules_.is_process(id); }
  bool is_round(const std::string& id) const { return rules_.is_round(id); }
  bool is_buffer(const std::string& id) const { return rules_.is_buffer(id); }

  bool has_offset(const Ids& ids) const { return has(ids, rules_.offset); }
  bool has_sequence(const Ids& ids) const {
    return std::ranges::any_of(ids, [this](const auto& id) { return is_sequence(id); });
  }
  // Returns whether they include a sequence number or an offset, which distinguishes several units.
  bool has_number(const Ids& ids) const { return has_offset(ids) || has_sequence(ids); }
  bool has_process(const Ids& ids) const {
    return std::ranges::any_of(ids, [this](const auto& id) { return is_process(id); });
  }
  bool has_buffer(const Ids& ids) const {
    return std::ranges::any_of(ids, [this](const auto& id) { return is_buffer(id); });
  }
  static bool has_bearer(const Ids& ids) { return std::ranges::any_of(ids, Rules::is_bearer); }

  bool is_numbered(model::PointId point) const { return has_number(of(point)); }
  bool is_global(model::PointId point, const std::string& id) const {
    return std::ranges::any_of(schema_.points[point].fields, [&](const model::Field& field) {
      return field.name == id && field.role == model::Role::kGlobal;
    });
  }

 private:
  const model::Schema& schema_;
  const Rules& rules_;
  std::vector<Ids> ids_;  // by point
};

}  // namespace sojourn::journeys
