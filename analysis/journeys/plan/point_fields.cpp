#include "analysis/journeys/plan/point_fields.h"

#include <algorithm>
#include <utility>

namespace sojourn::journeys {

using model::Point;
using model::Role;

std::vector<std::string> ids(const Point& point) {
  std::vector<std::string> names;
  for (const auto& field : point.fields)
    if (field.role != Role::kProperty) names.push_back(field.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::unique(names);
  names.erase(twice.begin(), twice.end());
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::binary_search(names, name);
}

std::optional<std::uint8_t> index_of(const Point& point, const std::string& name, bool property) {
  for (std::size_t i = 0; i < point.fields.size(); ++i) {
    const auto& field = point.fields[i];
    if (field.name == name && (field.role == Role::kProperty) == property)
      return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

FieldIndexes indexes(const Point& point, const std::vector<std::string>& names) {
  FieldIndexes result;
  for (const auto& name : names)
    if (const auto index = index_of(point, name, false)) result.push_back(*index);
  return result;
}

std::vector<FieldIndexes> alternatives(const Point& point, const std::vector<std::string>& names) {
  constexpr std::size_t kMaxWays = 16;
  std::vector<FieldIndexes> ways = {{}};
  for (const auto& name : names) {
    std::vector<FieldIndexes> longer;
    for (std::size_t i = 0; i < point.fields.size(); ++i) {
      if (point.fields[i].name != name || point.fields[i].role == Role::kProperty) continue;
      for (const auto& way : ways) {
        if (longer.size() == kMaxWays) break;
        longer.push_back(way);
        longer.back().push_back(static_cast<std::uint8_t>(i));
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

}  // namespace sojourn::journeys
