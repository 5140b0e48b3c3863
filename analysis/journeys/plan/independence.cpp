#include "analysis/journeys/plan/independence.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "analysis/journeys/plan/point_fields.h"

namespace sojourn::journeys {
namespace {

using model::Direction;
using model::Role;

// The global ids that the point has once.
std::vector<std::string> single_global_ids(const model::Point& point) {
  std::vector<std::string> names;
  for (const auto& field : point.fields) {
    const auto has_name = [&](const model::Field& other) { return other.name == field.name; };
    if (field.role == Role::kGlobal && std::ranges::count_if(point.fields, has_name) == 1)
      names.push_back(field.name);
  }
  std::ranges::sort(names);
  return names;
}

// The global ids that are in all keys of the direction, and at all points that carry its units.
std::vector<std::string> ids_of_all(const model::Schema& schema, const Topology& topology,
                                    Direction direction) {
  std::optional<std::vector<std::string>> common;
  const auto keep_those_of = [&](const std::vector<std::string>& names) {
    if (!common) common = names;
    std::vector<std::string> both;
    std::ranges::set_intersection(*common, names, std::back_inserter(both));
    common = std::move(both);
  };
  for (std::size_t i = 0; i < topology.points.size(); ++i) {
    const auto& plan = topology.points[i];
    if (plan.carries_units && plan.direction == direction)
      keep_those_of(single_global_ids(schema.points[i]));
  }
  for (const auto& pair : topology.pairs)
    if (topology.points[pair.child].direction == direction) keep_those_of(pair.key);
  return common.value_or(std::vector<std::string>());
}

}  // namespace

void find_independent_ids(const model::Schema& schema, Topology& topology) {
  for (const auto direction : {Direction::kDownlink, Direction::kUplink}) {
    const auto names = ids_of_all(schema, topology, direction);
    for (std::size_t i = 0; i < topology.points.size(); ++i) {
      auto& plan = topology.points[i];
      if (plan.carries_units && plan.direction == direction)
        plan.owner_ids = indexes(schema.points[i], names);
    }
  }
}

}  // namespace sojourn::journeys
