#include "analysis/journeys/plan/cardinality.h"

#include <algorithm>

#include "analysis/model/links.h"

namespace sojourn::journeys {

Cardinality::Cardinality(const IdSemantics& ids, std::span<const Edge> edges) : ids_(ids) {
  find_numbered(edges);
  const auto& points = ids.schema().points;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (ids.has_offset(ids.of(static_cast<PointId>(i))))
      cut_.emplace(points[i].direction, points[i].src, points[i].dest);
}

// Finds the points whose units have a number, or had one before. A unit in a block has a number of
// its own.
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

// Segments are distinguished by their offset, so a parent with an offset that its child lacks is
// one segment of several. A sequence number in the place of another one (gsn by psn) numbers the
// same unit, also if its owner or bearer has another name (teid, no rnti; drb, no lcid). A child
// with a number, of a parent without one, was one of several units in it. Every other id that a
// child does not repeat (bearer, process) means that it may have several parents.
void Cardinality::judge(Pair& pair, const PointPlan& parent, const PointPlan& child) const {
  const bool segments = ids_.has_offset(pair.parent_extra);
  const bool numbered = ids_.has_sequence(pair.key);
  const bool child_numbered = ids_.is_numbered(pair.child);
  judge_key(pair);
  // A process works on one block at a time: several of its blocks do not become one unit. A unit
  // that has a bearer is put into a block, and is not a block itself.
  const bool of_process = pair.is_by_process() || ids_.has_process(pair.parent_extra);
  const bool of_block = of_process && !pair.has_one_live_unit() && !pair.child_extra.empty() &&
                        !ids_.is_numbered(pair.parent) &&
                        !IdSemantics::has_bearer(pair.parent_extra);
  pair.numbered_by_segments = !numbered && !segments && !of_process && numbers_segments(pair);
  pair.block_content = content_of(pair, of_block);
  if (pair.is_by_process() && !pair.unpacks_block() && !pair.parent_extra.empty() &&
      !pair.child_extra.empty())
    pair.process_key = ProcessKey::kOtherIds;
  const bool gathers = !pair.has_one_live_unit() && !pair.unpacks_block() &&
                       !pair.numbered_by_segments && !of_block && !pair.parent_extra.empty() &&
                       !ids_.has_offset(pair.key) && (segments || !is_renumbered(pair));
  const bool one_bearer =
      (segments || numbered) && child_numbered && !IdSemantics::has_bearer(pair.key);
  if (gathers) pair.taken_parents = one_bearer ? TakenParents::kAllOfOneBearer : TakenParents::kAll;
  if ((numbered || pair.numbered_by_segments) && parent.length && !parent.offset && child.length &&
      child.offset)
    pair.segmentation = Segmentation::kCuts;
  else if (segments && gathers && parent.length && child.length &&
           !ids_.has_sequence(pair.parent_extra))
    pair.segmentation = Segmentation::kReassembles;
}

void Cardinality::judge_key(Pair& pair) const {
  if (names_one(pair))
    pair.live_units = ids_.has_buffer(pair.key) ? LiveUnits::kOne : LiveUnits::kOnePerSender;
  if (ids_.has_process(pair.key)) pair.process_key = ProcessKey::kSameIds;
  const auto& parent = ids_.schema().points[pair.parent];
  pair.key_outlasts_unit = std::ranges::any_of(pair.key, [&](const std::string& id) {
    return ids_.is_buffer(id) && parent.field(std::string(model::kLifePrefix) + id);
  });
  pair.key_lacks_owner =
      !ids_.has_buffer(pair.key) && std::ranges::none_of(pair.key, [&](const std::string& id) {
        return ids_.is_global(pair.child, id);
      });
}

BlockContent Cardinality::content_of(const Pair& pair, bool of_block) const {
  const bool addressed = of_block && ids_.has_buffer(pair.child_extra);
  const bool unpacks = !pair.has_one_live_unit() && !pair.numbered_by_segments &&
                       !ids_.is_numbered(pair.parent) &&
                       (ids_.has_number(pair.child_extra) || addressed);
  if (of_block && !ids_.is_numbered(pair.child))
    return unpacks ? BlockContent::kAddressed : BlockContent::kUnnumbered;
  return unpacks ? BlockContent::kNumbered : BlockContent::kNone;
}

// The child has a number, and the parent has only numbers and owners besides.
bool Cardinality::is_renumbered(const Pair& pair) const {
  const bool bearer_renamed = IdSemantics::has_bearer(pair.child_extra);
  const auto of_one = [&](const std::string& id) {
    return ids_.is_sequence(id) || ids_.is_global(pair.parent, id) ||
           (bearer_renamed && Rules::is_bearer(id));
  };
  return ids_.has_sequence(pair.key) && std::ranges::all_of(pair.parent_extra, of_one);
}

// Returns whether a key has one live unit at a time. Such a key is the address of a buffer, or a
// process without further ids that tell units apart.
bool Cardinality::names_one(const Pair& pair) const {
  if (ids_.has_buffer(pair.key)) return true;
  const auto says_which = [&](const std::string& id) {
    return !ids_.is_process(id) && !ids_.is_round(id) && !ids_.is_global(pair.child, id);
  };
  return ids_.has_process(pair.key) && std::ranges::none_of(pair.key, says_which);
}

// Returns whether units with numbers of their own are cut here into segments with new numbers. A
// segment that is a whole unit need not have an offset, even if others of its point have one.
bool Cardinality::numbers_segments(const Pair& pair) const {
  const auto& child = ids_.schema().points[pair.child];
  return was_numbered_[pair.parent] && ids_.has_sequence(pair.child_extra) &&
         !ids_.has_offset(pair.key) && cut_.contains({child.direction, child.src, child.dest});
}

}  // namespace sojourn::journeys
