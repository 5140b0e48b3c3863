#include "analysis/causes/queue_positions.h"

#include <algorithm>
#include <utility>

namespace sojourn::causes {

namespace {

constexpr std::uint64_t kMaxPassedShare = 4;  // at most one in this many, if the place is one queue

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ hash >> 29;
}

}  // namespace

QueuePositions::QueuePositions(const model::Schema& schema, const journeys::Topology& topology,
                               const journeys::Rules& rules)
    : topology_(topology), places_(topology.places.size()) {
  for (const journeys::Pair& pair : topology.pairs) {
    journeys::FieldIndexes& fields = flow_fields_.emplace_back();
    for (const std::string& id : pair.key) {
      const bool numbers = rules.is_sequence(id) || id == rules.offset || id == rules.process ||
                           id == model::kSlotField;
      if (numbers) continue;
      if (const auto field = schema.points[pair.child].field(id))
        fields.push_back(static_cast<std::uint8_t>(*field));
    }
  }
}

std::uint64_t QueuePositions::flow(std::uint32_t pair,
                                   std::span<const std::uint64_t> values) const {
  std::uint64_t hash = 0;
  for (const std::uint8_t field : flow_fields_[pair]) hash = mixed(hash, values[field]);
  return hash;
}

void QueuePositions::add(const journeys::Stay& stay) {
  const journeys::Pair& pair = topology_.pairs[stay.pair];
  // An acknowledgement comes long after the unit has left.
  if (topology_.points[pair.child].ack) return;
  Place& place = places_[pair.place];
  const Departure left = {stay.left_ns, stay.entered_ns, flow(stay.pair, stay.values)};
  place.left.push_back(left);
  ++size_;
  ++place.units;
  if (left.entered_ns < place.newest_ns && left.flow != place.newest_flow) ++place.passed;
  if (left.entered_ns >= place.newest_ns) {
    place.newest_ns = left.entered_ns;
    place.newest_flow = left.flow;
  }
}

void QueuePositions::forget(std::uint64_t before_ns) {
  for (Place& place : places_) {
    while (!place.left.empty() && place.left.front().left_ns < before_ns) {
      place.left.pop_front();
      --size_;
    }
  }
}

bool QueuePositions::is_one_fifo(const Place& place) {
  return kMaxPassedShare * place.passed < place.units;
}

QueuePositions::Ahead QueuePositions::ahead(std::uint32_t pair, std::uint64_t flow,
                                            std::uint64_t entered_ns, std::uint64_t left_ns) const {
  const Place& place = places_[topology_.pairs[pair].place];
  Ahead ahead = {.of_flow = !is_one_fifo(place)};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> units;  // their arrival and flow
  auto left = std::ranges::lower_bound(place.left, entered_ns, {}, &Departure::left_ns);
  // Units that leave at the same instant leave together.
  for (; left != place.left.end() && left->left_ns < left_ns; ++left) {
    const bool is_own_flow = left->flow == flow;
    if (left->entered_ns > entered_ns) {
      if (!is_own_flow) continue;
      ++ahead.overtakers;
      ahead.late_ns = std::max(ahead.late_ns, left->entered_ns);
      continue;
    }
    // A segment of the same unit entered together with it.
    const bool is_own = is_own_flow && left->entered_ns == entered_ns;
    if (is_own || (ahead.of_flow && !is_own_flow)) continue;
    units.emplace_back(left->entered_ns, left->flow);
    ahead.last_ns = left->left_ns;
  }
  // Segments of one unit entered together.
  std::ranges::sort(units);
  const auto again = std::ranges::unique(units);
  ahead.units = units.size() - again.size();
  return ahead;
}

}  // namespace sojourn::causes
