#include "analysis/present/report/deadline_part.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "analysis/report/deadline_misses.h"
#include "analysis/statistics/share.h"

namespace sojourn::present {
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
  const auto hops = report::late_hops(content.topology, content.summary, *content.deadline_ns);
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
  for (const std::size_t hop :
       report::late_hops(content.topology, content.summary, *content.deadline_ns)) {
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

}  // namespace sojourn::present
