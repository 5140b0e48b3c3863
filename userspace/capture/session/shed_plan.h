// Which points go off together where a budget is exceeded, and which of them go first. A journey
// from which one point in the middle is missing is worth nothing, so the points of a path (all that
// hand units to each other) go off and come back together. Plain data, made from a schema.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::capture {

enum class ShedTurn : std::uint8_t {
  kFirst,  // scalars, and what a map calls optional: no journey needs them
  kPath,   // what packets pass: a whole path at a time
  kNever,  // slots, which give all others their meaning
};

struct ShedPlan {
  // Both by point. A group's number is never 0; groups of fewer points stay within those of more.
  std::vector<std::uint32_t> group;
  std::vector<ShedTurn> turn;
};

// `optional`: those that a map calls so. A path is optional where all of its points are.
ShedPlan plan_shedding(const model::Schema& schema, const std::set<model::PointId>& optional);

}  // namespace sojourn::capture
