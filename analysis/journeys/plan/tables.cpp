#include "analysis/journeys/plan/tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/journeys/plan/point_fields.h"

namespace sojourn::journeys {
namespace {

// UINT16_MAX is no number of a table.
constexpr std::uint16_t kMaxTables = UINT16_MAX - 1;

void add(std::vector<TableUse>& uses, std::uint16_t table, const FieldIndexes& fields,
         const Pair& pair) {
  const auto same = std::ranges::find_if(
      uses, [&](const TableUse& use) { return use.table == table && use.fields == fields; });
  if (same == uses.end()) {
    uses.push_back({table, fields, pair.gathers(), pair.live_units});
  } else {
    same->gathers |= pair.gathers();
    same->live_units = std::min(same->live_units, pair.live_units);
  }
}

}  // namespace

Result<void> make_tables(const model::Schema& schema, Topology& topology) {
  struct Sharers {
    std::set<PointId> parents;
    std::set<PointId> children;
    std::size_t pairs = 0;

    bool all_touch() const { return pairs == parents.size() * children.size(); }
  };
  std::map<std::tuple<std::uint16_t, std::vector<std::string>, bool>, Sharers> sharers;
  for (const Pair& pair : topology.pairs) {
    auto& those = sharers[{pair.place, pair.key, pair.numbered_by_segments}];
    those.parents.insert(pair.parent);
    those.children.insert(pair.child);
    ++those.pairs;
  }
  std::map<std::tuple<std::uint16_t, std::vector<std::string>, bool, std::optional<PointId>>,
           std::uint16_t>
      tables;
  for (const Pair& pair : topology.pairs) {
    std::optional<PointId> owner;
    if (!sharers[{pair.place, pair.key, pair.numbered_by_segments}].all_touch()) owner = pair.child;
    const auto [slot, fresh] = tables.try_emplace(
        {pair.place, pair.key, pair.numbered_by_segments, owner}, topology.tables);
    if (fresh && topology.tables == kMaxTables)
      return fail("points touch by more than {} keys", kMaxTables);
    if (fresh) ++topology.tables;
    auto& up = topology.points[pair.parent];
    auto& down = topology.points[pair.child];
    for (const auto& fields : alternatives(schema.points[pair.parent], pair.key))
      add(pair.numbered_by_segments ? up.numbering.joined : up.inserts, slot->second, fields, pair);
    for (const auto& fields : alternatives(schema.points[pair.child], pair.key))
      add(pair.numbered_by_segments ? down.numbering.answered : down.lookups, slot->second, fields,
          pair);
  }
  return {};
}

}  // namespace sojourn::journeys
