// Readings as a capture writes them, by hand: zones with values at instants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/energy/energy_account.h"
#include "analysis/energy/energy_meter.h"
#include "analysis/model/energy_info.h"

namespace sojourn::energy::test {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kRange = 65'532'610'987;  // of a counter of 65 kJ

// A capture from second 10 to second 20, with its readings.
class Readings {
 public:
  Readings();

  // A zone of powercap; its number is its place among all.
  std::uint32_t zone(const std::string& place, const std::string& name, const std::string& package);
  std::uint32_t perf_zone(const std::string& place, const std::string& name,
                          const std::string& package);
  model::EnergyZone& about(std::uint32_t zone) { return about_.zones[zone]; }
  model::Energy& about() { return about_; }

  void read(std::uint32_t zone, double at_s, std::uint64_t microjoules);
  // Adds readings of a constant power for the whole capture, once a second.
  void steady(std::uint32_t zone, double watts, std::uint64_t from_uj = 0);
  void frequency(std::uint32_t policy, double at_s, std::uint64_t khz);
  void idle(std::uint32_t state, double at_s, std::uint64_t us);

  EnergyMeter meter() const;
  EnergyFigures figures(std::string_view cpu_model = "Intel") const;

 private:
  void add(model::PointId point, double at_s, std::uint64_t id, std::uint64_t value);

  model::Schema schema_;
  model::Energy about_;
  model::Capture capture_;
  model::EventBatch events_;
};

const ZoneEnergy& zone_at(const EnergyFigures& figures, const std::string& place);
const DomainEnergy* domain_in(const EnergyFigures& figures, Domain domain);

}  // namespace sojourn::energy::test
