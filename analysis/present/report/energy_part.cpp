#include "analysis/present/report/energy_part.h"

#include <nlohmann/json.hpp>

#include "analysis/energy/packet_energy.h"
#include "analysis/present/energy/energy_text.h"

namespace sojourn::present {

namespace {

EnergyContent energy_of(const ReportContent& content) {
  EnergyContent energy = {
      .figures = *content.joules, .packets = std::nullopt, .width = content.width};
  if (!content.selection)
    energy.packets = energy::packet_energy(
        content.joules->joules(), content.summary.direction(model::Direction::kDownlink).latency_ns,
        content.summary.direction(model::Direction::kUplink).latency_ns);
  return energy;
}

}  // namespace

std::string report_energy_text(const ReportContent& content) {
  return content.joules == nullptr ? std::string() : energy_text(energy_of(content));
}

nlohmann::ordered_json report_energy_json(const ReportContent& content) {
  if (content.joules == nullptr) return energy_json(nullptr);
  const EnergyContent energy = energy_of(content);
  return energy_json(&energy);
}

}  // namespace sojourn::present
