#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/present/energy/energy_text.h"

namespace sojourn::present {

namespace {

using energy::Domain;
using energy::DomainEnergy;
using energy::EnergyFigures;
using energy::ZoneEnergy;
using nlohmann::ordered_json;

template <typename Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json why_json(const std::string& why) {
  return why.empty() ? ordered_json() : ordered_json(why);
}

ordered_json zones_json(const EnergyFigures& figures) {
  auto zones = ordered_json::array();
  for (const ZoneEnergy& zone : figures.zones) {
    const bool is_known = zone.is_measured();
    zones.push_back({{"host", why_json(zone.about.host)},
                     {"place", zone.about.place},
                     {"name", zone.about.name},
                     {"package", why_json(zone.about.package)},
                     {"domain", energy::name(zone.domain)},
                     {"source", zone.about.source},
                     {"joules", is_known ? ordered_json(zone.joules) : ordered_json()},
                     {"watts", is_known ? ordered_json(zone.watts()) : ordered_json()},
                     {"covered_s", zone.covered_s},
                     {"readings", zone.readings},
                     {"wraps", zone.wraps},
                     {"counts", is_known && zone.aside.empty() && zone.domain != Domain::kPsys},
                     {"why_not", why_json(zone.why_not)},
                     {"aside", why_json(zone.aside)}});
  }
  return zones;
}

ordered_json domains_json(const EnergyFigures& figures) {
  auto domains = ordered_json::array();
  for (const DomainEnergy& domain : figures.domains) {
    ordered_json joules;
    if (domain.watts) joules = *domain.watts * figures.duration_s;
    domains.push_back({{"domain", energy::name(domain.domain)},
                       {"joules", std::move(joules)},
                       {"watts", or_null(domain.watts)},
                       {"why_not", why_json(domain.why_not)}});
  }
  return domains;
}

void add_packets(const std::optional<energy::PacketEnergy>& packets, ordered_json& object) {
  object["packets"] = packets ? ordered_json(packets->packets) : ordered_json();
  object["joules_a_packet"] = packets ? or_null(packets->joules) : ordered_json();
  constexpr std::string_view kLetters = "DU";
  for (std::size_t at = 0; at < kLetters.size(); ++at) {
    const energy::DirectionEnergy none;
    const energy::DirectionEnergy& one = packets ? packets->directions[at] : none;
    object[std::string(1, kLetters[at])] = {
        {"packets", packets ? ordered_json(one.packets) : ordered_json()},
        {"joules_a_packet", or_null(one.joules)},
        {"energy_delay2_js2", or_null(one.energy_delay_2)}};
  }
}

ordered_json frequency_json(const EnergyFigures& figures) {
  auto policies = ordered_json::array();
  for (const energy::PolicyFrequency& policy : figures.policies) {
    const bool was_read = policy.khz.readings != 0;
    const auto read = [&](auto value) { return was_read ? ordered_json(value) : ordered_json(); };
    policies.push_back({{"host", why_json(policy.about.host)},
                        {"cpus", policy.about.cpus},
                        {"governor", policy.about.governor},
                        {"allowed_from_khz", policy.about.least_khz},
                        {"allowed_to_khz", policy.about.most_khz},
                        {"readings", policy.khz.readings},
                        {"mean_khz", read(policy.khz.mean_khz())},
                        {"least_khz", read(policy.khz.least_khz)},
                        {"most_khz", read(policy.khz.most_khz)}});
  }
  return policies;
}

ordered_json idle_json(const EnergyFigures& figures) {
  auto states = ordered_json::array();
  for (const energy::IdleShare& state : figures.idle)
    states.push_back({{"host", why_json(state.about.host)},
                      {"name", state.about.name},
                      {"cpus", state.about.cpus},
                      {"share", or_null(state.share)}});
  return states;
}

ordered_json missing_json(const EnergyFigures& figures) {
  auto all = ordered_json::array();
  for (const model::EnergyMissing& missing : figures.missing)
    all.push_back({{"host", why_json(missing.host)}, {"what", missing.what}, {"why", missing.why}});
  return all;
}

}  // namespace

ordered_json energy_json(const EnergyContent* content) {
  if (content == nullptr) return {{"measured", false}, {"why_not", kNoEnergyRecorded}};
  const EnergyFigures& figures = content->figures;
  ordered_json object = {
      {"measured", figures.watts.has_value()},
      {"why_not", why_json(figures.why_not)},
      {"of", figures.watts ? ordered_json(energy_scope(figures)) : ordered_json()},
      {"duration_s", figures.duration_s},
      {"joules", or_null(figures.joules())},
      {"watts", or_null(figures.watts)}};
  add_packets(content->packets, object);
  object["domains"] = domains_json(figures);
  object["zones"] = zones_json(figures);
  object["frequency"] = frequency_json(figures);
  object["idle"] = idle_json(figures);
  object["missing"] = missing_json(figures);
  return object;
}

}  // namespace sojourn::present
