#include "analysis/differential/packet_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sojourn::differential {
namespace {

template <typename Value>
void put_in_order(std::vector<Value>& values, const std::vector<std::uint32_t>& order) {
  std::vector<Value> ordered;
  ordered.reserve(order.size());
  for (const std::uint32_t at : order) ordered.push_back(values[at]);
  values = std::move(ordered);
}

}  // namespace

std::vector<float> PacketTable::stays_of(std::size_t place) const {
  std::vector<float> there;
  there.reserve(stays_ns[place].size());
  for (const float stay : stays_ns[place])
    if (!std::isnan(stay)) there.push_back(stay);
  return there;
}

PacketTables::PacketTables(const journeys::Topology& topology, std::uint64_t begin_ns,
                           std::uint64_t end_ns)
    : depths_(topology.places.size(), std::vector<float>(kDepthSlices)),
      begin_ns_(begin_ns),
      slice_ns_(static_cast<double>(end_ns > begin_ns ? end_ns - begin_ns : 1) /
                static_cast<double>(kDepthSlices)) {
  for (PacketTable& table : tables_) table.stays_ns.resize(topology.places.size());
}

void PacketTables::on_journey(const journeys::Journey& journey) {
  if (!journey.has_latency()) return;
  PacketTable& table = tables_[journey.direction == model::Direction::kUplink ? 1 : 0];
  const std::size_t row = table.size();
  if (row == kMaxPackets) {
    ++left_out_;
    return;
  }
  table.start_ns.push_back(journey.start_ns);
  table.latency_ns.push_back(static_cast<float>(journey.latency_ns()));
  for (const journeys::CriticalPathSpan& span : journey.critical_path) {
    std::vector<float>& stays = table.stays_ns[span.place];
    if (stays.size() > row) {  // it was there before
      stays[row] += static_cast<float>(span.ns);
      continue;
    }
    stays.resize(row, kNotThere);
    stays.push_back(static_cast<float>(span.ns));
  }
}

void PacketTables::on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                            bool seen) {
  if (!seen || ts_ns <= begin_ns_) return;
  const auto slice_of = [this](std::uint64_t at_ns) {
    return at_ns <= begin_ns_ ? 0 : static_cast<double>(at_ns - begin_ns_) / slice_ns_;
  };
  constexpr auto kEnd = static_cast<double>(kDepthSlices);
  double from = slice_of(entered_ns);
  const double until = std::min(slice_of(ts_ns), kEnd);
  while (from < until) {
    const double next = std::min(std::floor(from) + 1, until);
    depths_[place][static_cast<std::size_t>(from)] += static_cast<float>(next - from);
    from = next;
  }
}

void PacketTables::finish() {
  for (PacketTable& table : tables_) {
    std::vector<std::uint32_t> order(table.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::ranges::stable_sort(order, {}, [&](std::uint32_t at) { return table.start_ns[at]; });
    for (auto& stays : table.stays_ns) {
      if (stays.empty()) continue;
      stays.resize(table.size(), kNotThere);
      put_in_order(stays, order);
    }
    put_in_order(table.latency_ns, order);
    put_in_order(table.start_ns, order);
  }
}

}  // namespace sojourn::differential
