// Plans which points go off together if a budget is exceeded, and which of them go first. A journey
// without one point in the middle is worthless, so the points of a path (all points that hand units
// to each other) go off and come back together. Plain data, made from a schema.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::capture {

enum class ShedTurn : std::uint8_t {
  kFirst,  // scalars, and what a map calls optional: no journey needs them
  kPath,   // points that packets pass: a whole path at a time
  kNever,  // slots, without which the others mean little
};

struct ShedPlan {
  // By point. A group's number is never 0. When points are added, groups only grow.
  std::vector<std::uint32_t> group;
  std::vector<ShedTurn> turn;
};

// `optional`: the points that a map calls so. A path is optional if all of its points are.
ShedPlan plan_shedding(const model::Schema& schema, const std::set<model::PointId>& optional);

}  // namespace sojourn::capture
