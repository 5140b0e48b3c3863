#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/journeys/plan/anchors.h"
#include "analysis/journeys/plan/block_paths.h"
#include "analysis/journeys/plan/cardinality.h"
#include "analysis/journeys/plan/id_semantics.h"
#include "analysis/journeys/plan/independence.h"
#include "analysis/journeys/plan/loops.h"
#include "analysis/journeys/plan/point_fields.h"
#include "analysis/journeys/plan/ranks.h"
#include "analysis/journeys/plan/tables.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/unread.h"

namespace sojourn::journeys {
namespace {

using model::Point;
using model::Role;

// A schema comes from a file. One in which every point feeds every other would take more time and
// memory than its journeys are worth.
constexpr std::size_t kMaxPairs = 100'000;

using PlaceKey = std::pair<model::Direction, std::string>;

// The dests that feed a source, nearest first: "rlc.tx.am", "rlc.tx", "rlc".
std::vector<std::string> feeding(std::string source) {
  std::vector<std::string> dests;
  for (;;) {
    dests.push_back(source);
    const auto dot = source.rfind('.');
    if (dot == std::string::npos) return dests;
    source.resize(dot);
  }
}

class Deriver {
 public:
  Deriver(const model::Schema& schema, const Rules& rules)
      : schema_(schema), rules_(rules), ids_(schema, rules) {}

  Result<Topology> run() {
    if (schema_.points.size() > std::numeric_limits<PointId>::max())
      return fail("schema has {} points, more than a trace can hold", schema_.points.size());
    for (const auto& point : schema_.points) left_.insert({point.direction, point.src});
    name_points();
    find_point_rules();
    for (std::size_t i = 0; i < schema_.points.size(); ++i) SJ_CHECK(describe(i));
    SJ_CHECK(find_pair_rules());
    find_forwards();
    for (std::size_t i = 0; i < schema_.points.size(); ++i) SJ_CHECK(connect(i));
    cardinality_.emplace(ids_, edges_);
    SJ_CHECK(touch_all());
    find_anchors(ids_, rules_, topology_);
    SJ_CHECK(make_tables(schema_, topology_));
    find_loops();
    for (std::size_t i = 0; i < schema_.points.size(); ++i) finish(i);
    find_block_paths(schema_, rules_, topology_);
    find_independent_ids(schema_, topology_);
    for (auto& plan : topology_.points)
      plan.is_followed_back =
          !plan.anchored_at_input || plan.loop != 0 || plan.block.way != BlockWay::kOutside;
    rank_points(topology_);
    return std::move(topology_);
  }

 private:
  Result<void> describe(std::size_t index) {
    const auto& point = schema_.points[index];
    if (point.fields.size() > std::numeric_limits<std::uint8_t>::max())
      return fail("point {} has {} fields, at most 255 are possible", point.name(),
                  point.fields.size());
    PointPlan plan;
    plan.direction = point.direction;
    plan.of_target = model::is_of_target(point.direction);
    plan.carries_units = carries_units(point);
    plan.values = static_cast<std::uint8_t>(point.fields.size());
    for (const auto& field : point.fields) plan.is_id.push_back(field.role != Role::kProperty);
    plan.drop = rules_.is_drop(point.dest) || (Rules::sounds_like_drop(point.dest) &&
                                               !left_.contains({point.direction, point.dest}));
    plan.ack = !plan.drop && rules_.is_ack(point.dest);
    plan.control = rules_.is_control(point.src) || rules_.is_control(point.dest);
    if (point_rules_[index] != nullptr) state_kind(*point_rules_[index], plan);
    plan.length = index_of(point, rules_.length, true);
    plan.offset = index_of(point, rules_.offset, false);
    for (std::size_t i = 0; i < point.fields.size(); ++i) {
      const auto& field = point.fields[i];
      const auto at = static_cast<std::uint8_t>(i);
      const auto how = round_field(field.name);
      if (rules_.is_round(field.name) && (!plan.harq.round || how < plan.harq.round_field)) {
        plan.harq.round = at;
        plan.harq.round_field = how;
        plan.harq.round_is_id = field.role != Role::kProperty;
      }
      if (field.role == Role::kGlobal && field.name == rules_.broadcast) plan.broadcast = at;
    }
    for (std::size_t i = 0; !plan.number && i < point.fields.size(); ++i)
      if (plan.is_id[i] && rules_.is_sequence(point.fields[i].name))
        plan.number = static_cast<std::uint8_t>(i);
    for (std::size_t name = 0; !plan.bearer && name < Rules::kBearers.size(); ++name) {
      if (const auto field = index_of(point, std::string(Rules::kBearers[name]), false))
        plan.bearer = BearerField{*field, name};
    }
    note_unread(point, plan);
    if (plan.carries_units && !plan.drop && !plan.ack)
      entering_[{point.direction, point.dest}].push_back(static_cast<PointId>(index));
    if (plan.harq.round) note_rounds(point, plan);
    topology_.points.push_back(std::move(plan));
    return {};
  }

  static RoundField round_field(const std::string& name) {
    if (Rules::is_new_data(name)) return RoundField::kNewData;
    return Rules::is_version(name) ? RoundField::kVersion : RoundField::kNumber;
  }

  void note_rounds(const model::Point& point, PointPlan& plan) {
    const auto names = process_ids(point);
    if (names.empty()) return;
    plan.harq.lacks_owner = std::ranges::none_of(point.fields, [&](const model::Field& field) {
      return field.role == Role::kGlobal && has(names, field.name);
    });
    const auto table = take_table();
    for (const auto& fields : alternatives(point, names)) {
      TableUse use{.table = table, .fields = fields};
      if (plan.harq.latest)
        plan.harq.more_latest.push_back(use);
      else
        plan.harq.latest = use;
    }
  }

  static void note_unread(const model::Point& point, PointPlan& plan) {
    const auto field = model::unread_field(point);
    if (!field) return;
    plan.unread = UnreadField{.field = static_cast<std::uint8_t>(*field)};
    for (std::size_t at = 0; at < *field && at < 64; ++at)
      if (plan.is_id[at]) plan.unread->needed_bits |= std::uint64_t{1} << at;
    for (const auto& needed : {plan.length, plan.offset, plan.harq.round})
      if (needed && *needed < 64) plan.unread->needed_bits |= std::uint64_t{1} << *needed;
  }

  static bool carries_units(const Point& point) {
    return point.direction == model::Direction::kDownlink ||
           point.direction == model::Direction::kUplink;
  }

  static void state_kind(const PointRule& rule, PointPlan& plan) {
    plan.stated = rule.kind;
    plan.control = rule.control;
    plan.drop = rule.kind == PointKind::kDrop;
    plan.ack = rule.kind == PointKind::kAck;
  }

  void name_points() {
    for (std::size_t i = 0; i < schema_.points.size(); ++i)
      if (const auto& point = schema_.points[i]; carries_units(point))
        named_[{point.direction, point.name()}].push_back(static_cast<PointId>(i));
  }

  // Returns the points of this name. If there are none, the rule is reported as unmatched.
  std::vector<PointId> meant_by(const PointName& name, const std::string& where) {
    std::vector<PointId> points;
    if (const auto named = named_.find({name.direction, name.name}); named != named_.end())
      std::ranges::copy_if(named->second, std::back_inserter(points),
                           [&](PointId id) { return name.matches(schema_.points[id]); });
    if (points.empty())
      topology_.unmatched_rules.push_back(
          fmt::format("{}: there is no point {} {}{}", where, letter(name.direction), name.name,
                      name.fields ? fmt::format(" with {}", *name.fields) : ""));
    return points;
  }

  void find_point_rules() {
    point_rules_.resize(schema_.points.size());
    for (const PointRule& rule : rules_.points)
      for (const PointId point : meant_by(rule.point, rule.where)) point_rules_[point] = &rule;
  }

  Result<void> find_pair_rules() {
    for (const PairRule& rule : rules_.pairs) {
      const auto parents = meant_by(rule.parent, rule.where);
      const auto children = meant_by(rule.child, rule.where);
      if (parents.size() * children.size() > kMaxPairs - pair_rules_.size())
        return fail("{}: with this rule there are more than {} pairs of points", rule.where,
                    kMaxPairs);
      for (const PointId parent : parents)
        for (const PointId child : children) pair_rules_[{child, parent}] = &rule;
    }
    return {};
  }

  // The ids that identify a HARQ process; empty if the point does not name a process.
  std::vector<std::string> process_ids(const Point& point) const {
    const auto process = std::ranges::find_if(point.fields, [this](const model::Field& field) {
      return field.role != Role::kProperty && rules_.is_process(field.name);
    });
    if (process == point.fields.end()) return {};
    std::vector<std::string> names = {process->name};
    for (const auto& field : point.fields)
      if (field.role == Role::kGlobal && field.name != process->name) names.push_back(field.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::unique(names);
    names.erase(twice.begin(), twice.end());
    return names;
  }

  // A dest that feeds no source continues in the nearest place that it is a part of: units that
  // enter `pdcp.in.gtp` leave `pdcp.in`.
  void find_forwards() {
    std::set<PlaceKey> sources;
    std::set<PlaceKey> read;
    for (const auto& point : schema_.points) {
      sources.insert({point.direction, point.src});
      for (auto& dest : feeding(point.src)) read.insert({point.direction, std::move(dest)});
    }
    for (const auto& [place, points] : entering_) {
      if (read.contains(place)) continue;
      const auto wholes = feeding(place.second);
      const auto whole = std::ranges::find_if(
          wholes, [&](const auto& name) { return sources.contains({place.first, name}); });
      if (whole != wholes.end()) forwards_[{place.first, *whole}].push_back(place.second);
    }
  }

  Result<void> connect(std::size_t child) {
    const auto& point = schema_.points[child];
    auto& plan = topology_.points[child];
    if (!plan.carries_units) return {};
    auto dests = feeding(point.src);
    const auto forwards = forwards_.find({point.direction, point.src});
    if (forwards != forwards_.end())
      dests.insert(dests.begin() + 1, forwards->second.begin(), forwards->second.end());
    for (const auto& dest : dests) {
      const auto found = entering_.find({point.direction, dest});
      if (found == entering_.end()) continue;
      for (const auto parent : found->second) {
        // A unit that goes from a place to a part of it, or from a part to the whole, has left it.
        if (dest != point.src && schema_.points[parent].src == point.src) continue;
        if (pair_rules_.contains({static_cast<PointId>(child), parent})) continue;
        if (plan.stated == PointKind::kInput) continue;
        if (topology_.points[parent].stated == PointKind::kOutput) continue;
        SJ_CHECK(link(parent, static_cast<PointId>(child)));
      }
    }
    const auto id = static_cast<PointId>(child);
    for (auto rule = pair_rules_.lower_bound({id, 0});
         rule != pair_rules_.end() && rule->first.first == id; ++rule)
      if (rule->second->touches) SJ_CHECK(link(rule->first.second, id, rule->second));
    return {};
  }

  Result<void> link(PointId parent, PointId child, const PairRule* rule = nullptr) {
    if (edges_.size() >= kMaxPairs)
      return fail("more than {} pairs of points touch: {} feeds too many sources", kMaxPairs,
                  schema_.points[parent].dest);
    edges_.push_back({parent, child});
    edge_rules_.push_back(rule);
    return {};
  }

  // If no output can be reached from a loop, a dest is taken for an output if it closes the loop
  // only because it is a part of a source, or the source a part of it. This does not apply if units
  // enter the dest from outside the loop as well.
  Result<void> touch_all() {
    std::vector<bool> outputs;
    outputs.reserve(topology_.points.size());
    for (const PointPlan& plan : topology_.points)
      outputs.push_back(plan.carries_units && !plan.ends() && !plan.control);
    for (const Edge& edge : edges_) outputs[edge.parent] = false;
    const auto blind = find_blind_loops(edges_, outputs);
    std::vector<bool> in_loop(topology_.points.size(), false);
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (blind[i]) in_loop[edges_[i].parent] = true;
    const auto is_in_loop = [&](PointId point) { return in_loop[point]; };
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const auto [parent, child] = edges_[i];
      const auto& from = schema_.points[parent];
      const bool by_part = edge_rules_[i] == nullptr && from.dest != schema_.points[child].src;
      if (blind[i] && by_part &&
          std::ranges::all_of(entering_[{from.direction, from.dest}], is_in_loop))
        continue;
      SJ_CHECK(touch(parent, child, edge_rules_[i]));
    }
    return {};
  }

  Result<void> touch(PointId parent, PointId child, const PairRule* rule) {
    const std::string& place = schema_.points[parent].dest;
    Pair pair;
    pair.parent = parent;
    pair.child = child;
    pair.place = place_index(schema_.points[parent].direction, place);
    std::ranges::set_intersection(ids_.of(parent), ids_.of(child), std::back_inserter(pair.key));
    if (rule != nullptr && rule->key) SJ_CHECK(take_key(*rule, pair));
    std::ranges::set_difference(ids_.of(parent), pair.key, std::back_inserter(pair.parent_extra));
    std::ranges::set_difference(ids_.of(child), pair.key, std::back_inserter(pair.child_extra));
    cardinality_->judge(pair, topology_.points[parent], topology_.points[child]);
    if (rule != nullptr) SJ_CHECK(overrule(*rule, pair));
    auto& up = topology_.points[parent];
    auto& down = topology_.points[child];
    up.place = pair.place;
    up.awaits_ack |= down.ack;
    up.numbering.waits |= pair.numbered_by_segments;
    down.numbering.is_segment |= pair.numbered_by_segments;
    down.longest_expiry_ns = std::max(down.longest_expiry_ns, pair.expiry_ns);
    const auto index = static_cast<std::uint32_t>(topology_.pairs.size());
    down.pairs.push_back(index);
    down.by_parent.push_back({pair.parent, index});
    topology_.pairs.push_back(std::move(pair));
    return {};
  }

  std::string said(const PairRule& rule) const {
    return fmt::format("{}: {} -> {}", rule.where, rule.parent.name, rule.child.name);
  }

  Result<void> take_key(const PairRule& rule, Pair& pair) const {
    auto key = *rule.key;
    std::ranges::sort(key);
    const auto twice = std::ranges::unique(key);
    key.erase(twice.begin(), twice.end());
    for (const std::string& id : key)
      for (const PointId side : {pair.parent, pair.child})
        if (!has(ids_.of(side), id))
          return fail("{}: {} {} has no id {}", said(rule), letter(rule.parent.direction),
                      schema_.points[side].name(), id);
    pair.key = std::move(key);
    return {};
  }

  Result<void> overrule(const PairRule& rule, Pair& pair) {
    const auto& up = topology_.points[pair.parent];
    const auto& down = topology_.points[pair.child];
    if (up.stated == PointKind::kOutput)
      return fail("{}: {} is stated to be an output", said(rule), rule.parent.name);
    if (down.stated == PointKind::kInput)
      return fail("{}: {} is stated to be an input", said(rule), rule.child.name);
    if (up.drop || up.ack) return fail("{}: units end at {}", said(rule), rule.parent.name);
    if (rule.gathers && *rule.gathers != pair.gathers())
      pair.taken_parents = *rule.gathers ? TakenParents::kAll : TakenParents::kNearest;
    if (pair.gathers()) pair.block_content = BlockContent::kNone;
    pair.numbered_by_segments &= !pair.gathers() && rule.cuts.value_or(true);
    pair.key_outlasts_unit &= rule.cuts.value_or(true);
    if (pair.gathers() || (rule.cuts.value_or(false) && !pair.key_outlasts_unit))
      pair.live_units = LiveUnits::kMany;
    const bool can_cut = up.length && down.length && down.offset;
    const bool can_join = up.length && up.offset && down.length;
    const bool cuts = rule.cuts.value_or(pair.cuts());
    const bool lengths = rule.lengths.value_or(cuts ? can_cut : pair.reassembles());
    pair.segmentation = segmentation_of(lengths, cuts, pair.gathers());
    if (rule.lengths.value_or(false) && pair.segmentation == Segmentation::kNone)
      return fail("{}: there are no lengths to compare where one unit becomes one", said(rule));
    if ((pair.cuts() && !can_cut) || (pair.reassembles() && !can_join))
      return fail("{}: lengths can be compared where both have {}, and the piece has {}",
                  said(rule), rules_.length, rules_.offset);
    if (rule.expiry_ns) {
      if (*rule.expiry_ns > rules_.expiry_ns)
        return fail("{}: nothing is kept longer than the general expiry", said(rule));
      pair.expiry_ns = *rule.expiry_ns;
      topology_.has_expiries = true;
    }
    return {};
  }

  static Segmentation segmentation_of(bool lengths, bool cuts, bool gathers) {
    if (!lengths) return Segmentation::kNone;
    if (cuts) return Segmentation::kCuts;
    return gathers ? Segmentation::kReassembles : Segmentation::kNone;
  }

  std::uint16_t take_table() { return topology_.tables++; }

  std::uint16_t place_index(model::Direction direction, const std::string& name) {
    const auto [slot, fresh] =
        places_.try_emplace({direction, name}, static_cast<std::uint16_t>(topology_.places.size()));
    if (fresh) topology_.places.push_back({direction, name});
    return slot->second;
  }

  void find_loops() {
    const auto loops = journeys::find_loops(topology_.points.size(), topology_.pairs);
    for (std::size_t i = 0; i < loops.unfed.size(); ++i) {
      auto& plan = topology_.points[i];
      plan.circles = loops.any[i];
      if (plan.stated || plan.control) continue;
      plan.loop = loops.unfed[i];
      topology_.loops = std::max(topology_.loops, plan.loop);
    }
  }

  void judge_blocks(std::size_t index) {
    auto& plan = topology_.points[index];
    const auto takes_numbered = [this](std::uint32_t at) {
      const auto& pair = topology_.pairs[at];
      return pair.gathers() && ids_.is_numbered(pair.parent);
    };
    const auto id = static_cast<PointId>(index);
    plan.block.takes_numbered = !plan.pairs.empty() && !ids_.is_numbered(id) &&
                                std::ranges::all_of(plan.pairs, takes_numbered);
    for (const auto at : plan.pairs) {
      const auto& pair = topology_.pairs[at];
      auto& parent = topology_.points[pair.parent];
      if (parent.loop == 0 && !pair.child_extra.empty() && !ids_.is_numbered(pair.parent))
        parent.block.is_unpacked = true;
    }
  }

  void finish(std::size_t index) {
    auto& plan = topology_.points[index];
    if (!plan.carries_units) return;
    judge_blocks(index);
    plan.harq.parents_have_rounds = std::ranges::any_of(plan.pairs, [this](std::uint32_t at) {
      const auto& pair = topology_.pairs[at];
      return pair.is_by_process() && topology_.points[pair.parent].harq.latest.has_value();
    });
    plan.input = plan.pairs.empty() && !plan.control;
    plan.takes_unowned = !plan.control && !plan.block.takes_numbered &&
                         std::ranges::any_of(plan.pairs, [this](std::uint32_t at) {
                           return topology_.pairs[at].key_lacks_owner;
                         });
    plan.output = !plan.place && !plan.drop && !plan.ack && !plan.control;
    if (plan.stated == PointKind::kInner) plan.input = plan.output = false;
    plan.harq.displaces = plan.input && plan.harq.latest && plan.harq.lacks_owner;
    if (plan.drop) note_processes(index);
  }

  // Notes the units that a drop may mean which names a process and no unit.
  void note_processes(std::size_t index) {
    auto& plan = topology_.points[index];
    const auto& point = schema_.points[index];
    const auto names = process_ids(point);
    if (names.empty()) return;
    const auto add = [&](std::size_t other, std::vector<TableUse>& uses) {
      const auto& repeats = topology_.points[other].harq.latest;
      if (!repeats || process_ids(schema_.points[other]) != names) return;
      for (const auto& fields : alternatives(point, names))
        uses.push_back({.table = repeats->table, .fields = fields});
    };
    for (const auto at : plan.pairs) {
      const auto& pair = topology_.pairs[at];
      const auto is_of_key = [&](const auto& name) {
        return std::ranges::find(pair.key, name) != pair.key.end();
      };
      if (topology_.points[pair.parent].pairs.empty() && std::ranges::all_of(names, is_of_key))
        add(pair.parent, plan.harq.inputs_latest);
    }
    for (std::size_t other = 0; other < schema_.points.size(); ++other) {
      const auto& sibling = schema_.points[other];
      if (sibling.direction == point.direction && sibling.src == point.src)
        add(other, plan.harq.siblings_latest);
    }
  }

  const model::Schema& schema_;
  const Rules& rules_;
  Topology topology_;
  IdSemantics ids_;
  std::map<PlaceKey, std::vector<PointId>> named_;                     // points that carry units
  std::vector<const PointRule*> point_rules_;                          // by point
  std::map<std::pair<PointId, PointId>, const PairRule*> pair_rules_;  // by child and parent
  std::set<PlaceKey> left_;                                            // places that a point leaves
  std::map<PlaceKey, std::vector<PointId>> entering_;
  std::vector<Edge> edges_;
  std::optional<Cardinality> cardinality_;
  std::vector<const PairRule*> edge_rules_;                // by edge; none: from the names
  std::map<PlaceKey, std::vector<std::string>> forwards_;  // by source, dests that continue there
  std::map<PlaceKey, std::uint16_t> places_;
};

}  // namespace

bool Topology::is_divisible(model::Direction direction) const {
  return std::ranges::any_of(points, [direction](const PointPlan& plan) {
    return plan.carries_units && plan.direction == direction && plan.owner_ids.size() != 0;
  });
}

Result<Topology> Topology::derive(const model::Schema& schema, const Rules& rules) {
  return Deriver(schema, rules).run();
}

}  // namespace sojourn::journeys
