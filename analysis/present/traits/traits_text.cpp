#include "analysis/present/traits/traits_text.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/differential/blocks.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using nlohmann::ordered_json;

std::string what_text(const differential::Trait& trait) {
  std::string text;
  for (const auto& [attribute, value] : trait.what)
    text += fmt::format("{}{} = {}", text.empty() ? "  " : " and ", printable(attribute),
                        printable(value));
  return trait.alike == 0 ? text : text + fmt::format(" ({} alike)", trait.alike);
}

std::string heading(const differential::DirectionTraits& found, const std::string& slow) {
  const std::string what =
      slow.empty()
          ? fmt::format("longer than {}", duration(static_cast<double>(found.slow_from_ns)))
          : slow;
  std::string text = fmt::format("{}: {} of {} packets are slow ({})", found.direction,
                                 count(found.slow), count(found.packets), what);
  if (found.blocks < differential::kMinBlocks)
    text += "; too little data to tell chance from cause";
  return text;
}

}  // namespace

std::string traits_text(const TraitsContent& content) {
  std::string text;
  for (const differential::DirectionTraits& found : content.directions) {
    if (!text.empty()) text += "\n";
    text += wrapped(heading(found, content.slow), 2, content.width) + "\n";
    Table table({"what they have", "packets", "slow", "of the slow", "risk", "times", "p"});
    table.fold(0);
    for (const differential::Trait& trait : found.traits)
      table.row(
          {what_text(trait), count(trait.packets), count(trait.slow), percent(trait.support),
           percent(trait.risk),
           std::isinf(trait.risk_ratio) ? "only these" : fmt::format("{:.1f}", trait.risk_ratio),
           trait.p ? fmt::format("{:.3f}", *trait.p) : "?"});
    text += table.empty() ? "  no attribute of packets in the trace distinguishes them\n"
                          : table.text(content.width);
  }
  if (content.left_out != 0)
    text += fmt::format("{} packets more were not taken\n", count(content.left_out));
  return text.empty() ? "no complete packet\n" : text;
}

ordered_json traits_json(const TraitsContent& content) {
  ordered_json told = {{"slow", content.slow}, {"packets_left_out", content.left_out}};
  for (const differential::DirectionTraits& found : content.directions) {
    ordered_json of = {{"packets", found.packets}, {"slow", found.slow}, {"blocks", found.blocks}};
    if (content.slow.empty()) of["slow_from_ns"] = found.slow_from_ns;
    of["traits"] = ordered_json::array();
    for (const differential::Trait& trait : found.traits) {
      ordered_json what = ordered_json::object();
      for (const auto& [attribute, value] : trait.what) what[attribute] = value;
      of["traits"].push_back(
          {{"what", std::move(what)},
           {"packets", trait.packets},
           {"slow", trait.slow},
           {"support", trait.support},
           {"risk", trait.risk},
           {"risk_ratio",
            std::isinf(trait.risk_ratio) ? ordered_json(nullptr) : ordered_json(trait.risk_ratio)},
           {"alike", trait.alike},
           {"where",
            trait.condition.empty() ? ordered_json(nullptr) : ordered_json(trait.condition)},
           {"p", trait.p ? ordered_json(*trait.p) : ordered_json(nullptr)}});
    }
    told[std::string(1, found.direction)] = std::move(of);
  }
  return told;
}

}  // namespace sojourn::present
