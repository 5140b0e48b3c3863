// Decides which zones of a trace count, and adds them up. A package that two zones cover counts
// once. Cores and uncore are parts of their package; psys includes everything. So the total is that
// of packages and DRAM, of all hosts. A domain that was not measured has a reason, and no figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/energy/energy_meter.h"
#include "analysis/model/energy_info.h"

namespace sojourn::energy {

enum class Domain : std::uint8_t { kPackage, kCore, kUncore, kDram, kPsys, kOther };
std::string_view name(Domain domain);  // "package", "core", "uncore", "dram", "psys", "other"
Domain domain_of(const model::EnergyZone& zone);

struct ZoneEnergy {
  model::EnergyZone about = {};
  Domain domain = Domain::kOther;
  double joules = 0;  // in the time that is covered
  double covered_s = 0;
  std::uint64_t readings = 0;
  std::uint64_t wraps = 0;
  std::string why_not = {};  // it is not measured; empty: it is
  std::string aside = {};    // why it is in no sum; empty: it is in its domain's sum

  bool is_measured() const { return why_not.empty(); }
  // Its mean power while it was read.
  double watts() const { return covered_s > 0 ? joules / covered_s : 0; }
};

struct DomainEnergy {
  Domain domain = Domain::kPackage;
  std::optional<double> watts = {};  // of all its zones that count
  std::string why_not = {};          // the reason if there are no watts
};

struct PolicyFrequency {
  model::FrequencyPolicy about = {};
  Frequencies khz;
};

struct IdleShare {
  model::IdleState about = {};
  std::optional<double> share = {};  // of the time of all CPUs that have it
};

struct EnergyFigures {
  double duration_s = 0;  // of the capture
  std::vector<ZoneEnergy> zones = {};
  std::vector<DomainEnergy> domains = {};  // those that have a zone
  std::optional<double> watts = {};        // of packages, and of DRAM if it has a zone
  bool has_dram = false;                   // in that
  std::string why_not = {};                // the reason if there are none
  std::vector<PolicyFrequency> policies = {};
  std::vector<IdleShare> idle = {};
  std::vector<model::EnergyMissing> missing = {};

  // The energy of the capture at that power.
  std::optional<double> joules() const;
};

// `cpu_model` is the trace's host's.
EnergyFigures energy_figures(const EnergyMeter& meter, std::string_view cpu_model);

}  // namespace sojourn::energy
