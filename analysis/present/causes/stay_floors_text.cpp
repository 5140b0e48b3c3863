#include "analysis/present/causes/stay_floors_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

std::string place_name(const journeys::Topology& topology, std::uint16_t place) {
  const journeys::Place& at = topology.places[place];
  return fmt::format("{} {}", letter(at.direction), at.name);
}

}  // namespace

std::string floors_text(const std::vector<causes::StayFloors::Row>& rows,
                        const journeys::Topology& topology) {
  Table table({"as fast as this machine allows", "stays", "p50", ""});
  table.left(3);
  table.fold(3);
  for (const causes::StayFloors::Row& row : rows)
    table.row({fmt::format("  {}, {}", place_name(topology, row.place),
                           row.handover == host::Handover::kSameThread ? "within a thread"
                                                                       : "to another thread"),
               count(row.count), duration(row.median_ns), row.floor.words});
  return table.empty() ? std::string() : "\n" + table.text();
}

nlohmann::ordered_json floors_json(const std::vector<causes::StayFloors::Row>& rows,
                                   const journeys::Topology& topology) {
  auto json = nlohmann::ordered_json::array();
  for (const causes::StayFloors::Row& row : rows) {
    const journeys::Place& at = topology.places[row.place];
    json.push_back({{"dir", std::string(1, letter(at.direction))},
                    {"at", at.name},
                    {"other_thread", row.handover == host::Handover::kOtherThread},
                    {"stays", row.count},
                    {"p50_ns", row.median_ns},
                    {"floor_ns", row.floor.ns},
                    {"words", row.floor.words}});
  }
  return json;
}

}  // namespace sojourn::present
