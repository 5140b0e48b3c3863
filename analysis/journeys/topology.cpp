#include "analysis/journeys/topology.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/model/unread.h"

namespace sojourn::journeys {
namespace {

using model::Point;
using model::Role;

// A schema comes from a file; one where everything touches everything would cost more than it
// tells.
constexpr std::size_t kMaxPairs = 100'000;

using PlaceKey = std::pair<model::Direction, std::string>;

std::vector<std::string> ids(const Point& point) {
  std::vector<std::string> names;
  for (const auto& field : point.fields)
    if (field.role != Role::kProperty) names.push_back(field.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::unique(names);
  names.erase(twice.begin(), twice.end());
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::binary_search(names, name);
}

std::optional<std::uint8_t> index_of(const Point& point, const std::string& name, bool property) {
  for (std::size_t i = 0; i < point.fields.size(); ++i) {
    const auto& field = point.fields[i];
    if (field.name == name && (field.role == Role::kProperty) == property)
      return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

FieldIndexes indexes(const Point& point, const std::vector<std::string>& names) {
  FieldIndexes result;
  for (const auto& name : names)
    if (const auto index = index_of(point, name, false)) result.push_back(*index);
  return result;
}

// The same, in every way that fields of one name allow: each is as good as the others.
std::vector<FieldIndexes> alternatives(const Point& point, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 16;
  std::vector<FieldIndexes> ways = {{}};
  for (const auto& name : names) {
    std::vector<FieldIndexes> longer;
    for (std::size_t i = 0; i < point.fields.size(); ++i) {
      if (point.fields[i].name != name || point.fields[i].role == Role::kProperty) continue;
      for (const auto& way : ways) {
        if (longer.size() == kMost) break;
        longer.push_back(way);
        longer.back().push_back(static_cast<std::uint8_t>(i));
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

// "rlc.tx.am", "rlc.tx", "rlc": the dests that feed a source, nearest first.
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
  Deriver(const model::Schema& schema, const Rules& rules) : schema_(schema), rules_(rules) {}

  Result<Topology> run() {
    if (schema_.points.size() > std::numeric_limits<PointId>::max())
      return fail("schema has {} points, more than a trace can hold", schema_.points.size());
    for (std::size_t i = 0; i < schema_.points.size(); ++i) SJ_CHECK(describe(i));
    find_forwards();
    for (std::size_t i = 0; i < schema_.points.size(); ++i) SJ_CHECK(connect(i));
    for (std::size_t i = 0; i < schema_.points.size(); ++i) finish(i);
    rank();
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
    plan.carries_units = point.direction == model::Direction::kDownlink ||
                         point.direction == model::Direction::kUplink;
    plan.values = static_cast<std::uint8_t>(point.fields.size());
    for (const auto& field : point.fields) plan.is_id.push_back(field.role != Role::kProperty);
    plan.drop = rules_.is_drop(point.dest);
    plan.ack = !plan.drop && rules_.is_ack(point.dest);
    plan.control = rules_.is_control(point.src) || rules_.is_control(point.dest);
    plan.length = index_of(point, rules_.length, true);
    plan.offset = index_of(point, rules_.offset, false);
    plan.round = index_of(point, rules_.round, true);
    note_unread(point, plan);
    ids_.push_back(ids(point));
    if (plan.carries_units && !plan.drop && !plan.ack)
      entering_[{point.direction, point.dest}].push_back(static_cast<PointId>(index));
    if (plan.round && index_of(point, rules_.process, false))
      plan.repeats = TableUse{take_table(), indexes(point, process_ids(point)), false};
    topology_.points.push_back(std::move(plan));
    return {};
  }

  static void note_unread(const model::Point& point, PointPlan& plan) {
    const auto field = model::unread_field(point);
    if (!field) return;
    plan.unread = static_cast<std::uint8_t>(*field);
    for (std::size_t at = 0; at < *field && at < 64; ++at)
      if (plan.is_id[at]) plan.needed_bits |= std::uint64_t{1} << at;
    for (const auto& needed : {plan.length, plan.offset, plan.round})
      if (needed && *needed < 64) plan.needed_bits |= std::uint64_t{1} << *needed;
  }

  // What a process is known by; empty where the point does not name one.
  std::vector<std::string> process_ids(const Point& point) const {
    if (!index_of(point, rules_.process, false)) return {};
    std::vector<std::string> names = {rules_.process};
    for (const auto& field : point.fields)
      if (field.role == Role::kGlobal && field.name != rules_.process) names.push_back(field.name);
    std::ranges::sort(names);
    return names;
  }

  // A dest that nobody reads goes on where the nearest place that it is a part of is left:
  // `pdcp.in.gtp` by `pdcp.in`.
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
        // What leaves a place for a part of it has left.
        const bool part = dest.size() > point.src.size();
        if (part && schema_.points[parent].src == point.src) continue;
        if (topology_.pairs.size() >= kMaxPairs)
          return fail("more than {} pairs of points touch: {} feeds too many sources", kMaxPairs,
                      dest);
        touch(parent, static_cast<PointId>(child), dest);
      }
    }
    return {};
  }

  void touch(PointId parent, PointId child, const std::string& place) {
    Pair pair;
    pair.parent = parent;
    pair.child = child;
    pair.place = place_index(schema_.points[parent].direction, place);
    std::ranges::set_intersection(ids_[parent], ids_[child], std::back_inserter(pair.key));
    std::ranges::set_difference(ids_[parent], ids_[child], std::back_inserter(pair.parent_extra));
    std::ranges::set_difference(ids_[child], ids_[parent], std::back_inserter(pair.child_extra));
    judge(pair);
    join_table(pair);
    auto& up = topology_.points[parent];
    auto& down = topology_.points[child];
    up.place = pair.place;
    up.awaits_ack |= down.ack;
    down.pairs.push_back(static_cast<std::uint32_t>(topology_.pairs.size()));
    topology_.pairs.push_back(std::move(pair));
  }

  // What the ids say about the cardinality. Pieces are told apart by their offset, so a parent with
  // an offset that its child lacks is one piece of several. One sequence number that takes the
  // place of another (gsn by psn) numbers the same unit. Everything else that a child does not
  // repeat (bearer, process) means that it may stand for several parents.
  void judge(Pair& pair) const {
    const auto& up = topology_.points[pair.parent];
    const auto& down = topology_.points[pair.child];
    const auto sequence = [this](const std::string& id) { return rules_.is_sequence(id); };
    const bool pieces = has(pair.parent_extra, rules_.offset);
    const bool numbered = std::ranges::any_of(pair.key, sequence);
    const bool renumbered = numbered && std::ranges::all_of(pair.parent_extra, sequence);
    pair.gathers =
        !pair.parent_extra.empty() && !has(pair.key, rules_.offset) && (pieces || !renumbered);
    pair.cuts = numbered && up.length && !up.offset && down.length && down.offset;
    pair.joins = pieces && pair.gathers && up.length && down.length && !down.drop &&
                 std::ranges::none_of(pair.parent_extra, sequence);
  }

  void join_table(const Pair& pair) {
    const auto& place = topology_.places[pair.place];
    const auto [slot, fresh] =
        tables_.try_emplace({place.direction, place.name, pair.key}, topology_.tables);
    if (fresh) ++topology_.tables;
    for (auto& fields : alternatives(schema_.points[pair.parent], pair.key))
      add(topology_.points[pair.parent].inserts, slot->second, std::move(fields), pair.gathers);
    for (auto& fields : alternatives(schema_.points[pair.child], pair.key))
      add(topology_.points[pair.child].lookups, slot->second, std::move(fields), pair.gathers);
  }

  static void add(std::vector<TableUse>& uses, std::uint16_t table, FieldIndexes fields,
                  bool gathers) {
    const auto same = std::ranges::find_if(
        uses, [&](const TableUse& use) { return use.table == table && use.fields == fields; });
    if (same == uses.end()) {
      uses.push_back({table, std::move(fields), gathers});
    } else {
      same->gathers |= gathers;
    }
  }

  std::uint16_t take_table() { return topology_.tables++; }

  std::uint16_t place_index(model::Direction direction, const std::string& name) {
    const auto [slot, fresh] =
        places_.try_emplace({direction, name}, static_cast<std::uint16_t>(topology_.places.size()));
    if (fresh) topology_.places.push_back({direction, name});
    return slot->second;
  }

  void finish(std::size_t index) {
    auto& plan = topology_.points[index];
    if (!plan.carries_units) return;
    plan.input = plan.pairs.empty() && !plan.control;
    plan.output = !plan.place && !plan.drop && !plan.ack && !plan.control;
    if (!plan.drop) return;
    const auto& point = schema_.points[index];
    for (std::size_t other = 0; other < schema_.points.size(); ++other) {
      const auto& sibling = schema_.points[other];
      if (!topology_.points[other].repeats || sibling.direction != point.direction ||
          sibling.src != point.src)
        continue;
      const auto names = process_ids(point);
      if (!names.empty() && names == process_ids(sibling))
        plan.processes.push_back(
            {topology_.points[other].repeats->table, indexes(point, names), false});
    }
  }

  // Longest distance from an input; points on a cycle keep the rank they had when it was met.
  void rank() {
    const auto& pairs = topology_.pairs;
    std::vector<std::size_t> missing(topology_.points.size(), 0);
    std::vector<std::vector<PointId>> next(topology_.points.size());
    for (const auto& pair : pairs) {
      ++missing[pair.child];
      next[pair.parent].push_back(pair.child);
    }
    std::vector<PointId> ready;
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i] == 0) ready.push_back(static_cast<PointId>(i));
    while (!ready.empty()) {
      const auto point = ready.back();
      ready.pop_back();
      const auto after = static_cast<std::uint16_t>(topology_.points[point].rank + 1);
      for (const auto child : next[point]) {
        auto& rank = topology_.points[child].rank;
        rank = std::max(rank, after);
        if (--missing[child] == 0) ready.push_back(child);
      }
    }
  }

  const model::Schema& schema_;
  const Rules& rules_;
  Topology topology_;
  std::vector<std::vector<std::string>> ids_;
  std::map<PlaceKey, std::vector<PointId>> entering_;
  std::map<PlaceKey, std::vector<std::string>> forwards_;  // by source: dests that go on there
  std::map<PlaceKey, std::uint16_t> places_;
  std::map<std::tuple<model::Direction, std::string, std::vector<std::string>>, std::uint16_t>
      tables_;
};

std::string_view kind(const PointPlan& plan) {
  if (!plan.carries_units) return "scalar";
  if (plan.drop) return "drop";
  if (plan.ack) return "acknowledgement";
  if (plan.control) return "control";
  if (plan.input) return "input";
  if (plan.output) return "output";
  return "";
}

}  // namespace

Result<Topology> Topology::derive(const model::Schema& schema, const Rules& rules) {
  return Deriver(schema, rules).run();
}

std::string explain(const Topology& topology, const model::Schema& schema, const Rules& rules) {
  std::string text;
  const auto line = std::back_inserter(text);
  for (std::size_t i = 0; i < schema.points.size(); ++i) {
    const auto& point = schema.points[i];
    fmt::format_to(line, "{} {}  {}\n", letter(point.direction), point.name(),
                   kind(topology.points[i]));
    for (const auto index : topology.points[i].pairs) {
      const auto& pair = topology.pairs[index];
      fmt::format_to(line, "    from {} by {}{}{}{}\n", schema.points[pair.parent].name(),
                     fmt::join(pair.key, "."), pair.gathers ? ", takes all" : ", takes the nearest",
                     pair.cuts ? fmt::format(", cut by {}", rules.offset) : "",
                     pair.joins ? fmt::format(", pieces by {}", rules.offset) : "");
    }
  }
  return text;
}

}  // namespace sojourn::journeys
