#include "analysis/journeys/plan/block_paths.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sojourn::journeys {
namespace {

class Finder {
 public:
  Finder(const model::Schema& schema, const Rules& rules, Topology& topology)
      : schema_(schema), rules_(rules), topology_(topology) {}

  void run() {
    const auto size = topology_.points.size();
    numbered_.resize(size);
    for (std::size_t i = 0; i < size; ++i)
      numbered_[i] = std::ranges::any_of(schema_.points[i].fields, [this](const auto& field) {
        return field.role != model::Role::kProperty && is_number(field.name);
      });
    std::vector<PointId> filled;
    std::vector<PointId> emptied;
    for (const auto& pair : topology_.pairs) {
      if (pair.gathers() && numbered_[pair.parent] && !numbered_[pair.child])
        filled.push_back(pair.child);
      if (takes_out(pair)) emptied.push_back(pair.parent);
    }
    if (filled.empty() || emptied.empty()) return;
    mark(filled, emptied);
  }

 private:
  bool is_number(const std::string& id) const {
    return id == rules_.offset || rules_.is_sequence(id);
  }
  bool is_in_block(PointId point) const {
    return topology_.points[point].block.way != BlockWay::kOutside;
  }
  bool takes_out(const Pair& pair) const {
    return pair.unpacks_block() && numbered_[pair.child] && !topology_.points[pair.parent].control;
  }

  // Marks the points that lie after the filling of a block and before its emptying.
  void mark(const std::vector<PointId>& filled, const std::vector<PointId>& emptied) {
    std::vector<std::vector<PointId>> next(topology_.points.size());
    std::vector<std::vector<PointId>> before(topology_.points.size());
    for (const auto& pair : topology_.pairs) {
      if (takes_out(pair)) continue;
      next[pair.parent].push_back(pair.child);
      before[pair.child].push_back(pair.parent);
    }
    const auto after = reach(filled, next);
    for (const auto point : filled) before[point].clear();
    const auto ahead = reach(emptied, before);
    for (std::size_t i = 0; i < topology_.points.size(); ++i)
      if (after[i] && ahead[i]) topology_.points[i].block.way = BlockWay::kInside;
    for (const auto point : filled)
      if (is_in_block(point)) topology_.points[point].block.way = BlockWay::kFilled;
    topology_.unit_ids.resize(topology_.points.size());
    std::vector<bool> opened(topology_.points.size(), false);
    for (const auto point : emptied) opened[point] = is_in_block(point);
    for (const auto& pair : topology_.pairs) {
      auto& child = topology_.points[pair.child];
      const bool control = child.control && !is_in_block(pair.child);
      if (!opened[pair.parent] || (!takes_out(pair) && !control)) continue;
      child.block.comes_out = true;
      name_ids(pair.child);
    }
    for (const auto& pair : topology_.pairs)
      if (topology_.points[pair.child].block.way == BlockWay::kFilled) name_ids(pair.parent);
  }

  static std::vector<bool> reach(std::vector<PointId> from,
                                 const std::vector<std::vector<PointId>>& edges) {
    std::vector<bool> reached(edges.size(), false);
    for (const auto point : from) reached[point] = true;
    while (!from.empty()) {
      const auto point = from.back();
      from.pop_back();
      for (const auto other : edges[point])
        if (!reached[other]) {
          reached[other] = true;
          from.push_back(other);
        }
    }
    return reached;
  }

  void name_ids(PointId point) {
    auto& ids = topology_.unit_ids[point];
    if (!ids.empty()) return;
    const auto& fields = schema_.points[point].fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto& name = fields[i].name;
      const bool number = is_number(name);
      if (fields[i].role == model::Role::kProperty || (!number && !Rules::is_bearer(name)))
        continue;
      const auto known = names_.try_emplace(name, static_cast<std::uint16_t>(names_.size())).first;
      ids.push_back({known->second, static_cast<std::uint8_t>(i), number});
    }
  }

  const model::Schema& schema_;
  const Rules& rules_;
  Topology& topology_;
  std::vector<bool> numbered_;  // by point
  std::map<std::string, std::uint16_t> names_;
};

}  // namespace

void find_block_paths(const model::Schema& schema, const Rules& rules, Topology& topology) {
  Finder(schema, rules, topology).run();
}

}  // namespace sojourn::journeys
