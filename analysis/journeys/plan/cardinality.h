// The cardinality between two points that touch, derived from their ids: how many parents make how
// many children, whether a unit is cut, reassembled or taken out of a block, and how many units
// have one key. Immutable.
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
  // `ids` must outlive this.
  Cardinality(const IdSemantics& ids, std::span<const Edge> edges);

  // The points of the pair and its ids are known.
  void judge(Pair& pair, const PointPlan& parent, const PointPlan& child) const;

 private:
  using PointsName = std::tuple<model::Direction, std::string, std::string>;

  void find_numbered(std::span<const Edge> edges);
  bool names_one(const Pair& pair) const;
  void judge_key(Pair& pair) const;
  BlockContent content_of(const Pair& pair, bool of_block) const;
  bool is_renumbered(const Pair& pair) const;
  bool numbers_segments(const Pair& pair) const;

  const IdSemantics& ids_;
  std::vector<bool> was_numbered_;  // by point
  std::set<PointsName> cut_;        // points that say where a segment begins
};

}  // namespace sojourn::journeys
