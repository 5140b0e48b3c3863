#include "analysis/differential/sighting_search.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace sojourn::differential {
namespace {

void append(std::string& key, std::uint64_t value) {
  for (unsigned byte = 0; byte < 8; ++byte)
    key += static_cast<char>(static_cast<unsigned char>(value >> (8 * byte)));
}

std::optional<std::vector<std::size_t>> fields_of(const model::Point& point,
                                                  const std::vector<std::string>& key) {
  std::vector<std::size_t> fields;
  for (const std::string& name : key) {
    const auto field = point.field(name);
    if (!field) return std::nullopt;
    fields.push_back(*field);
  }
  return fields;
}

}  // namespace

SightingSearch::SightingSearch(const model::Schema& schema, const journeys::Topology& topology)
    : names_(topology.pairs.size()), uses_(schema.points.size()) {
  for (std::uint32_t at = 0; at < topology.pairs.size(); ++at) {
    const journeys::Pair& pair = topology.pairs[at];
    if (pair.key.empty() || pair.cuts() || pair.reassembles()) continue;
    const auto of_parent = fields_of(schema.points[pair.parent], pair.key);
    const auto of_child = fields_of(schema.points[pair.child], pair.key);
    if (!of_parent || !of_child) continue;
    for (const std::string& name : pair.key) names_[at] += name + ' ';
    uses_[pair.parent].push_back({.pair = at, .is_parent = true, .fields = *of_parent});
    uses_[pair.child].push_back({.pair = at, .is_parent = false, .fields = *of_child});
  }
}

void SightingSearch::add(std::size_t host, model::PointId point, std::uint64_t ts_ns,
                         std::span<const std::uint64_t> values) {
  if (point >= uses_.size()) return;
  for (const Use& use : uses_[point]) {
    if (std::ranges::any_of(use.fields, [&](std::size_t field) { return field >= values.size(); }))
      continue;
    std::string key;
    append(key, use.pair);
    for (const std::size_t field : use.fields) append(key, values[field]);
    Unit& unit = units_[std::move(key)];
    auto& sides = use.is_parent ? unit.left : unit.came;
    auto side = std::ranges::find(sides, host, &Side::host);
    if (side == sides.end()) side = sides.insert(sides.end(), Side{.host = host});
    side->ts_ns = ts_ns;
    ++side->count;
  }
}

std::string SightingSearch::ids_of(const std::string& key) const {
  std::uint64_t pair = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    pair |= std::uint64_t{static_cast<unsigned char>(key[byte])} << (8 * byte);
  return names_[pair] + key.substr(8);
}

std::vector<SightingSearch::Found> SightingSearch::found() const {
  std::vector<Found> all;
  // Returns the sighting if there was exactly one, at one host.
  const auto only = [](const std::vector<Side>& sides) -> const Side* {
    return sides.size() == 1 && sides.front().count == 1 ? &sides.front() : nullptr;
  };
  for (const auto& [key, unit] : units_) {
    const Side* const from = only(unit.left);
    const Side* const to = only(unit.came);
    if (from != nullptr && to != nullptr && from->host != to->host)
      all.push_back({.from = from->host,
                     .to = to->host,
                     .sent_ns = from->ts_ns,
                     .came_ns = to->ts_ns,
                     .ids = ids_of(key)});
  }
  std::ranges::sort(all, {}, [](const Found& each) {
    return std::tuple(each.from, each.to, each.sent_ns, each.came_ns);
  });
  return all;
}

}  // namespace sojourn::differential
