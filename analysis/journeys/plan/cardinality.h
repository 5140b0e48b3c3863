// How many units become how many between two points that touch, by what their ids say.
#pragma once

#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/journeys/plan/id_semantics.h"
#include "analysis/journeys/plan/loops.h"
#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

class Cardinality {
 public:
  // `ids` must outlive it.
  Cardinality(const IdSemantics& ids, std::span<const Edge> edges);

  // Of a pair whose points and ids are known.
  void judge(Pair& pair, const PointPlan& parent, const PointPlan& child) const;

 private:
  using PointsName = std::tuple<model::Direction, std::string, std::string>;

  void find_numbered(std::span<const Edge> edges);
  bool names_one(const Pair& pair) const;
  bool numbers_pieces(const Pair& pair) const;

  const IdSemantics& ids_;
  std::vector<bool> was_numbered_;  // by point
  std::set<PointsName> cut_;        // of points that say where a piece begins
};

}  // namespace sojourn::journeys
