#include "analysis/journeys/plan/anchors.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "analysis/journeys/plan/loops.h"

namespace sojourn::journeys {
namespace {

struct Signs {
  bool sent = false;
  bool received = false;

  bool any() const { return sent || received; }
  bool are_contrary() const { return sent && received; }
  void add(const Signs& other) {
    sent |= other.sent;
    received |= other.received;
  }
};

// Signs of offsets decide. Signs of a process' blocks decide if there are no offsets.
struct Evidence {
  Signs pieces;
  Signs blocks;

  void add(const Evidence& other) {
    pieces.add(other.pieces);
    blocks.add(other.blocks);
  }
  bool is_contrary() const { return (pieces.any() ? pieces : blocks).are_contrary(); }
  std::optional<Anchor> anchor() const {
    for (const Signs& signs : {pieces, blocks})
      if (signs.sent != signs.received) return signs.sent ? Anchor::kInput : Anchor::kOutput;
    return std::nullopt;
  }
};

Evidence evidence_of(const Pair& pair, const IdSemantics& ids) {
  const bool process = ids.has_process(ids.of(pair.parent)) || ids.has_process(ids.of(pair.child));
  const bool parent_numbered = ids.is_numbered(pair.parent);
  const bool child_numbered = ids.is_numbered(pair.child);
  const auto tells_units_apart = [&](const IdSemantics::Ids& extra) {
    return ids.has_buffer(extra) || IdSemantics::has_bearer(extra);
  };
  return {
      .pieces = {.sent = pair.numbered_by_segments ||
                         (parent_numbered && ids.has_offset(pair.child_extra)),
                 .received = pair.gathers() && ids.has_offset(pair.parent_extra) && child_numbered},
      .blocks = {.sent = process && pair.gathers() && !child_numbered &&
                         (parent_numbered || tells_units_apart(pair.parent_extra)),
                 .received = process &&
                             (pair.unpacks_block() ||
                              (pair.child_from_block() && tells_units_apart(pair.child_extra)))}};
}

}  // namespace

void find_anchors(const IdSemantics& ids, const Rules& rules, Topology& topology) {
  const auto parts = find_parts(topology.points.size(), topology.pairs);
  std::vector<Evidence> of_part(topology.points.size());
  std::map<model::Direction, Evidence> of_direction;
  for (const auto& pair : topology.pairs) {
    const auto evidence = evidence_of(pair, ids);
    of_part[parts[pair.parent]].add(evidence);
    of_direction[topology.points[pair.parent].direction].add(evidence);
  }
  const auto decide = [&](model::Direction direction, const std::optional<Anchor>& stated,
                          Anchor& anchor) {
    const auto& all = of_direction[direction];
    anchor = stated.value_or(all.anchor().value_or(anchor));
    const bool apart = !stated && all.is_contrary();
    for (std::size_t i = 0; i < topology.points.size(); ++i) {
      auto& plan = topology.points[i];
      if (plan.direction != direction) continue;
      const auto own = apart ? of_part[parts[i]].anchor() : std::nullopt;
      plan.anchored_at_input = own.value_or(anchor) == Anchor::kInput;
    }
  };
  decide(model::Direction::kDownlink, rules.downlink, topology.downlink);
  decide(model::Direction::kUplink, rules.uplink, topology.uplink);
}

}  // namespace sojourn::journeys
