#include "analysis/report/deadline_misses.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/report/table.h"
#include "analysis/report/text_format.h"
#include "analysis/statistics/share.h"

namespace sojourn::report {
namespace {

using model::Direction;
using nlohmann::ordered_json;

constexpr std::size_t kMaxHops = 20;

void add(Table& table, const std::string& what, const statistics::Distribution& times,
         std::uint64_t deadline_ns) {
  const std::uint64_t late = times.above(deadline_ns);
  const auto sure = statistics::share_of(late, times.count());
  table.row(
      {what, count(times.count()), count(late), times.count() == 0 ? "-" : percent(sure.share),
       times.count() == 0 ? "-" : fmt::format("{} .. {}", percent(sure.low), percent(sure.high)),
       times.count() == 0 ? "-" : duration(static_cast<double>(times.max()))});
}

// Hops in which something was late, those with most first.
std::vector<std::size_t> late_hops(const ReportContent& content) {
  std::vector<std::pair<std::uint64_t, std::size_t>> late;
  for (std::size_t i = 0; i < content.topology.pairs.size(); ++i) {
    const auto& child = content.topology.points[content.topology.pairs[i].child];
    if (child.drop || child.ack) continue;
    const std::uint64_t times = content.summary.hop(i).above(*content.deadline_ns);
    if (times > 0) late.emplace_back(times, i);
  }
  std::ranges::stable_sort(late, std::ranges::greater(),
                           &std::pair<std::uint64_t, std::size_t>::first);
  std::vector<std::size_t> hops;
  hops.reserve(late.size());
  for (const auto& [times, index] : late) hops.push_back(index);
  return hops;
}

}  // namespace

std::string hop_name(const ReportContent& content, std::size_t index) {
  const auto& pair = content.topology.pairs[index];
  const auto& place = content.topology.places[pair.place];
  return fmt::format("{} {} -> {} -> {}", letter(place.direction),
                     content.facts.schema.points[pair.parent].src, place.name,
                     content.facts.schema.points[pair.child].dest);
}

std::string deadline_text(const ReportContent& content) {
  Table table({fmt::format("longer than {}", duration(static_cast<double>(*content.deadline_ns))),
               "of", "late", "share", "95 % sure", "worst"});
  for (const Direction direction : model::kPacketDirections)
    if (const auto& summary = content.summary.direction(direction); summary.count() > 0)
      add(table, fmt::format("{} packets", letter(direction)), summary.latency_ns,
          *content.deadline_ns);
  const auto hops = late_hops(content);
  for (const std::size_t hop : hops | std::views::take(kMaxHops))
    add(table, "  " + hop_name(content, hop), content.summary.hop(hop), *content.deadline_ns);
  std::string text = "\n" + table.text();
  if (hops.size() > kMaxHops)
    text += fmt::format("and {} more hops (--json has them)\n", hops.size() - kMaxHops);
  return text;
}

ordered_json misses_json(const statistics::Distribution& times, std::uint64_t deadline_ns) {
  const std::uint64_t late = times.above(deadline_ns);
  const auto sure = statistics::share_of(late, times.count());
  return {{"of", times.count()},
          {"late", late},
          {"share", sure.share},
          {"share_ci95", {sure.low, sure.high}}};
}

ordered_json deadline_json(const ReportContent& content) {
  ordered_json object;
  object["us"] = static_cast<double>(*content.deadline_ns) / 1e3;
  for (const Direction direction : model::kPacketDirections)
    object[std::string(1, letter(direction))] =
        misses_json(content.summary.direction(direction).latency_ns, *content.deadline_ns);
  auto hops = ordered_json::array();
  for (const std::size_t hop : late_hops(content)) {
    const auto& pair = content.topology.pairs[hop];
    ordered_json row = {
        {"dir", std::string(1, letter(content.topology.places[pair.place].direction))},
        {"at", content.topology.places[pair.place].name},
        {"from", content.facts.schema.points[pair.parent].src},
        {"to", content.facts.schema.points[pair.child].dest}};
    row.update(misses_json(content.summary.hop(hop), *content.deadline_ns));
    hops.push_back(std::move(row));
  }
  object["hops"] = std::move(hops);
  return object;
}

}  // namespace sojourn::report
