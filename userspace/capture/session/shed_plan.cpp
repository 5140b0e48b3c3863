#include "userspace/capture/session/shed_plan.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/links.h"

namespace sojourn::capture {

namespace {

using model::Direction;
using model::PointId;

bool is_of_path(const model::Point& point) {
  return point.direction == Direction::kDownlink || point.direction == Direction::kUplink;
}

class Planner {
 public:
  explicit Planner(const model::Schema& schema) : schema_(schema), leader_(schema.points.size()) {
    std::iota(leader_.begin(), leader_.end(), std::size_t{0});
  }

  ShedPlan plan(const std::set<PointId>& optional) {
    join_paths();
    join_givers();
    ShedPlan plan;
    std::vector<bool> is_optional(leader_.size(), true);  // by leader
    for (std::size_t point = 0; point < leader_.size(); ++point)
      if (!optional.contains(static_cast<PointId>(point))) is_optional[leader(point)] = false;
    std::vector<bool> has_path(leader_.size());  // the same
    for (std::size_t point = 0; point < leader_.size(); ++point)
      if (is_of_path(schema_.points[point])) has_path[leader(point)] = true;
    for (std::size_t point = 0; point < leader_.size(); ++point) {
      const std::size_t first = leader(point);
      plan.group.push_back(static_cast<std::uint32_t>(first + 1));
      ShedTurn turn = has_path[first] ? ShedTurn::kPath : turn_alone(point);
      if (is_optional[first]) turn = ShedTurn::kFirst;
      plan.turn.push_back(turn);
    }
    return plan;
  }

 private:
  // The first point of a point's group.
  std::size_t leader(std::size_t point) {
    while (leader_[point] != point) point = leader_[point] = leader_[leader_[point]];
    return point;
  }

  void join(std::size_t one, std::size_t other) {
    const std::size_t first = leader(one);
    const std::size_t second = leader(other);
    leader_[std::max(first, second)] = std::min(first, second);
  }

  // Joins points that hand units to each other. If that cannot be derived a direction is one path.
  void join_paths() {
    const auto topology = journeys::Topology::derive(schema_, {});
    if (topology) {
      for (const journeys::Pair& pair : topology->pairs) join(pair.parent, pair.child);
      return;
    }
    for (std::size_t point = 1; point < leader_.size(); ++point)
      for (std::size_t before = 0; before < point; ++before)
        if (is_of_path(schema_.points[point]) &&
            schema_.points[point].direction == schema_.points[before].direction)
          join(point, before);
  }

  // A scalar belongs to a path if a point of the path takes an id from its call.
  void join_givers() {
    for (std::size_t taker = 0; taker < leader_.size(); ++taker)
      for (const model::Field& field : schema_.points[taker].fields)
        if (is_of_path(schema_.points[taker]) && field.name.starts_with(model::kInheritedPrefix))
          join_givers_of(field.name.substr(model::kInheritedPrefix.size()), taker);
  }

  void join_givers_of(const std::string& field, std::size_t taker) {
    for (std::size_t giver = 0; giver < leader_.size(); ++giver) {
      const model::Point& point = schema_.points[giver];
      if (point.direction == Direction::kScalar && point.field(field) &&
          point.field(std::string(model::kStackPointerField)))
        join(giver, taker);
    }
  }

  ShedTurn turn_alone(std::size_t point) const {
    return schema_.points[point].direction == Direction::kScalar ? ShedTurn::kFirst
                                                                 : ShedTurn::kNever;
  }

  const model::Schema& schema_;
  std::vector<std::size_t> leader_;
};

}  // namespace

ShedPlan plan_shedding(const model::Schema& schema, const std::set<model::PointId>& optional) {
  return Planner(schema).plan(optional);
}

}  // namespace sojourn::capture
