// The registrations of a script, known once it was read: the kinds of its functions, the columns
// that it adds, and the activities and markers that it makes. Plain data, and its form between
// worker and parent.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::scripts {

struct ColumnPlan {
  std::string name;
  model::Role role = model::Role::kGlobal;
  std::vector<model::PointId> points;

  bool operator==(const ColumnPlan&) const = default;
};

struct MadePlan {
  std::string name;
  std::vector<std::string> attributes;
  bool is_activity = false;  // else a marker

  std::size_t values() const { return attributes.size() + (is_activity ? 1 : 0); }
  bool operator==(const MadePlan&) const = default;
};

struct Registration {
  bool filters_events = false;
  bool filters_journeys = false;
  bool sees_events = false;  // has functions that are called for events, filters included
  std::vector<ColumnPlan> columns;
  std::vector<MadePlan> made;

  // If such a script fails, its events would be wrong, so the command fails.
  bool changes_events() const { return filters_events || !columns.empty(); }
  // Such a script has no effect. Of another trace it may have one: it may ask what is known().
  bool is_empty() const {
    return !filters_events && !filters_journeys && !sees_events && columns.empty() && made.empty();
  }
  bool operator==(const Registration&) const = default;
};

std::vector<std::byte> pack(const Registration& registration);
// Nothing if these bytes are no registration.
std::optional<Registration> unpack(std::span<const std::byte> bytes);

// The points of the trace with the script's additions. Fails if a point would have too many fields,
// or two of one name.
Result<model::Schema> schema_behind(const model::Schema& schema, const Registration& registration);

}  // namespace sojourn::scripts
