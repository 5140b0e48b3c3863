#include "analysis/journeys/plan/cardinality.h"

#include <algorithm>

namespace sojourn::journeys {

Cardinality::Cardinality(const IdSemantics& ids, std::span<const Edge> edges) : ids_(ids) {
  find_numbered(edges);
  const auto& points = ids.schema().points;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (ids.has_offset(ids.of(static_cast<PointId>(i))))
      cut_.emplace(points[i].direction, points[i].src, points[i].dest);
}

// Units that have a number, or had one before; what is in a block is numbered for itself.
void Cardinality::find_numbered(std::span<const Edge> edges) {
  const auto points = ids_.schema().points.size();
  std::vector<std::vector<PointId>> children(points);
  for (const Edge& edge : edges) children[edge.parent].push_back(edge.child);
  std::vector<PointId> found;
  was_numbered_.assign(points, false);
  const auto note = [&](PointId point) {
    if (was_numbered_[point] || ids_.has_process(ids_.of(point))) return;
    was_numbered_[point] = true;
    found.push_back(point);
  };
  for (std::size_t i = 0; i < points; ++i)
    if (ids_.is_numbered(static_cast<PointId>(i))) note(static_cast<PointId>(i));
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const auto child : children[found[i]]) note(child);
}

// Pieces are told apart by their offset, so a parent with an offset that its child lacks is one
// piece of several. One sequence number that takes the place of another (gsn by psn) numbers the
// same unit, also where it says another way whose it is (teid, no rnti; drb, no lcid). What has a
// number and comes from what has none was one of several in it. Everything else that a child does
// not repeat (bearer, process) means that it may stand for several parents.
void Cardinality::judge(Pair& pair, const PointPlan& parent, const PointPlan& child) const {
  const bool pieces = ids_.has_offset(pair.parent_extra);
  const bool numbered = ids_.has_sequence(pair.key);
  const bool parent_numbered = ids_.is_numbered(pair.parent);
  const bool child_numbered = ids_.is_numbered(pair.child);
  const bool bearer_renamed = IdSemantics::has_bearer(pair.child_extra);
  const auto of_one = [&](const std::string& id) {
    return ids_.is_sequence(id) || ids_.is_global(pair.parent, id) ||
           (bearer_renamed && Rules::is_bearer(id));
  };
  const bool renumbered = numbered && std::ranges::all_of(pair.parent_extra, of_one);
  pair.one_live_unit_per_key = names_one(pair);
  pair.by_process = ids_.has_process(pair.key);
  pair.key_lacks_owner =
      !ids_.has_buffer(pair.key) && std::ranges::none_of(pair.key, [&](const std::string& id) {
        return ids_.is_global(pair.child, id);
      });
  pair.key_is_per_sender = pair.one_live_unit_per_key && !ids_.has_buffer(pair.key);
  // A process works on one block at a time: several of its blocks do not become one unit. What says
  // of which bearer it is goes into a block.
  const bool of_process = pair.by_process || ids_.has_process(pair.parent_extra);
  const bool of_block = of_process && !pair.one_live_unit_per_key && !pair.child_extra.empty() &&
                        !parent_numbered && !IdSemantics::has_bearer(pair.parent_extra);
  pair.child_from_block = of_block && !child_numbered;
  pair.numbered_by_pieces = !numbered && !pieces && !of_process && numbers_pieces(pair);
  pair.unpacks_block =
      !pair.one_live_unit_per_key && !pair.numbered_by_pieces && !parent_numbered &&
      (ids_.has_number(pair.child_extra) || (of_block && ids_.has_buffer(pair.child_extra)));
  pair.gathers = !pair.one_live_unit_per_key && !pair.unpacks_block && !pair.numbered_by_pieces &&
                 !of_block && !pair.parent_extra.empty() && !ids_.has_offset(pair.key) &&
                 (pieces || !renumbered);
  pair.changes_ids = pair.by_process && !pair.unpacks_block && !pair.parent_extra.empty() &&
                     !pair.child_extra.empty();
  pair.cuts = (numbered || pair.numbered_by_pieces) && parent.length && !parent.offset &&
              child.length && child.offset;
  pair.gathers_one_bearer =
      (pieces || numbered) && pair.gathers && child_numbered && !IdSemantics::has_bearer(pair.key);
  pair.reassembles = pieces && pair.gathers && parent.length && child.length &&
                     !ids_.has_sequence(pair.parent_extra);
}

// An address holds one unit at a time, and a process works on one.
bool Cardinality::names_one(const Pair& pair) const {
  if (ids_.has_buffer(pair.key)) return true;
  const auto says_which = [&](const std::string& id) {
    return !ids_.is_process(id) && !ids_.is_round(id) && !ids_.is_global(pair.child, id);
  };
  return ids_.has_process(pair.key) && std::ranges::none_of(pair.key, says_which);
}

// What has a number of its own is cut, and its pieces are numbered anew. A whole one need not say
// where it begins, where others of the same point's name do.
bool Cardinality::numbers_pieces(const Pair& pair) const {
  const auto& child = ids_.schema().points[pair.child];
  return was_numbered_[pair.parent] && ids_.has_sequence(pair.child_extra) &&
         !ids_.has_offset(pair.key) && cut_.contains({child.direction, child.src, child.dest});
}

}  // namespace sojourn::journeys
