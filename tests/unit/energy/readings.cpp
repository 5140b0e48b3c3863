#include "tests/unit/energy/readings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::energy::test {

Readings::Readings() {
  schema_.points = {{.src = "ip.in", .dest = "rlc", .fields = {}, .file = {}},
                    model::energy_point(),
                    model::frequency_point(),
                    model::idle_point()};
  about_.period_ns = kSecond / 10;
  capture_.open_ns = 10 * kSecond;
  capture_.close_ns = 20 * kSecond;
}

std::uint32_t Readings::zone(const std::string& place, const std::string& name,
                             const std::string& package) {
  const auto id = static_cast<std::uint32_t>(about_.zones.size());
  about_.zones.push_back({.id = id,
                          .host = {},
                          .package = package,
                          .name = name,
                          .source = "powercap",
                          .place = place,
                          .range = kRange,
                          .missing = {}});
  return id;
}

std::uint32_t Readings::perf_zone(const std::string& place, const std::string& name,
                                  const std::string& package) {
  const std::uint32_t id = zone(place, name, package);
  about_.zones[id].source = "perf";
  about_.zones[id].range = 0;
  return id;
}

void Readings::add(model::PointId point, double at_s, std::uint64_t id, std::uint64_t value) {
  const std::array<std::uint64_t, 2> values = {id, value};
  events_.append({.ts_ns = static_cast<std::uint64_t>(std::llround(at_s * 1e9)),
                  .seq = events_.size(),
                  .stream = 0,
                  .tid = 0,
                  .point = point,
                  .values = values});
}

void Readings::read(std::uint32_t zone, double at_s, std::uint64_t microjoules) {
  add(1, at_s, zone, microjoules);
}

void Readings::steady(std::uint32_t zone, double watts, std::uint64_t from_uj) {
  for (int second = 10; second <= 20; ++second)
    read(zone, second, from_uj + static_cast<std::uint64_t>((second - 10) * watts * 1e6));
}

void Readings::frequency(std::uint32_t policy, double at_s, std::uint64_t khz) {
  add(2, at_s, policy, khz);
}

void Readings::idle(std::uint32_t state, double at_s, std::uint64_t us) {
  add(3, at_s, state, us);
}

EnergyMeter Readings::meter() const {
  EnergyMeter meter(schema_, about_, capture_);
  meter.consume(events_);
  meter.finish(21 * kSecond);
  return meter;
}

EnergyFigures Readings::figures(std::string_view cpu_model) const {
  return energy_figures(meter(), cpu_model);
}

const ZoneEnergy& zone_at(const EnergyFigures& figures, const std::string& place) {
  const auto found = std::ranges::find(figures.zones, place,
                                       [](const ZoneEnergy& zone) { return zone.about.place; });
  REQUIRE(found != figures.zones.end());
  return *found;
}

const DomainEnergy* domain_in(const EnergyFigures& figures, Domain domain) {
  const auto found = std::ranges::find(figures.domains, domain, &DomainEnergy::domain);
  return found == figures.domains.end() ? nullptr : &*found;
}

}  // namespace sojourn::energy::test
