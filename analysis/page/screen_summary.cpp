#include "analysis/page/screen_summary.h"

#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/model/schema.h"

namespace sojourn::page {

using nlohmann::ordered_json;

namespace {

constexpr std::array kDirections = {model::Direction::kDownlink, model::Direction::kUplink};

}  // namespace

void ScreenSummary::on_journey(const journeys::Journey& journey) {
  ++count_;
  const auto known = std::ranges::find(kDirections, journey.direction);
  if (known == kDirections.end() || !journey.has_latency()) return;
  const auto direction = static_cast<std::size_t>(known - kDirections.begin());
  const Packet packet = {
      .id = journey.id,
      .start = static_cast<double>(static_cast<std::int64_t>(journey.start_ns - origin_ns_)),
      .latency_ns = journey.latency_ns(),
      .direction = direction};
  auto& slowest = slowest_[direction];
  const auto place = std::ranges::upper_bound(
      slowest, packet.latency_ns, [](std::uint64_t a, std::uint64_t b) { return a > b; },
      &Packet::latency_ns);
  slowest.insert(place, packet);
  if (slowest.size() > kSlowest) slowest.pop_back();
  if (packet.latency_ns == 0) return;  // has no place on a logarithmic axis
  grid_.on_journey(journey);
  Extent& extent = extents_[direction];
  extent.first = std::min(extent.first, packet.start);
  extent.last = std::max(extent.last, packet.start);
  extent.low_ns = std::min(extent.low_ns, packet.latency_ns);
  extent.high_ns = std::max(extent.high_ns, packet.latency_ns);
}

ordered_json ScreenSummary::grid() const {
  auto told = ordered_json{{"column_ns", grid_.column_ns()},
                           {"rows_of_doubling", report::LatencyGrid::kRowsOfDoubling}};
  for (std::size_t direction = 0; direction < kDirections.size(); ++direction) {
    const Extent& extent = extents_[direction];
    if (extent.high_ns == 0) continue;
    auto columns = ordered_json::array(), rows = ordered_json::array(),
         counts = ordered_json::array();
    for (std::size_t row = 0; row < report::LatencyGrid::kRows; ++row)
      for (std::size_t column = 0; column < grid_.used_columns(); ++column)
        if (const std::uint64_t count = grid_.count(kDirections[direction], column, row);
            count > 0) {
          columns.push_back(column);
          rows.push_back(row);
          counts.push_back(count);
        }
    told[std::string(1, letter(kDirections[direction]))] = {
        {"first", extent.first},     {"last", extent.last},          {"low", extent.low_ns},
        {"high", extent.high_ns},    {"column", std::move(columns)}, {"row", std::move(rows)},
        {"count", std::move(counts)}};
  }
  return told;
}

std::vector<ScreenSummary::Packet> ScreenSummary::all_slowest() const {
  std::vector<Packet> all = slowest_[0];
  all.insert(all.end(), slowest_[1].begin(), slowest_[1].end());
  std::ranges::stable_sort(
      all, [](std::uint64_t a, std::uint64_t b) { return a > b; }, &Packet::latency_ns);
  return all;
}

ordered_json ScreenSummary::slowest() const {
  auto told = ordered_json::object();
  for (const char* const name : {"id", "start", "latency", "direction", "outcome"})
    told[name] = ordered_json::array();
  for (const Packet& packet : all_slowest()) {
    told["id"].push_back(packet.id);
    told["start"].push_back(packet.start);
    told["latency"].push_back(packet.latency_ns);
    told["direction"].push_back(static_cast<int>(kDirections[packet.direction]));
    told["outcome"].push_back(static_cast<int>(journeys::Outcome::kComplete));
  }
  return told;
}

}  // namespace sojourn::page
