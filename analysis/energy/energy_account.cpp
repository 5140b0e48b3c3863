#include "analysis/energy/energy_account.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sojourn::energy {

namespace {

constexpr std::array kDomains = {Domain::kPackage, Domain::kCore, Domain::kUncore,
                                 Domain::kDram,    Domain::kPsys, Domain::kOther};

// The share of the capture that readings must cover so that their mean holds for the whole.
constexpr double kLeastCovered = 0.9;

// "intel-rapl" of "intel-rapl:0:1", "power" of "power/energy-pkg on cpu 0".
std::string_view kind_of(const model::EnergyZone& zone) {
  const std::string_view place = zone.place;
  return place.substr(0, place.find_first_of(":/"));
}

// Among kinds that measure the same thing the one of lowest rank counts. Counters that need a
// system call for each reading rank behind those of /sys, which every reader has.
int rank_of(const model::EnergyZone& zone) {
  const std::string_view kind = kind_of(zone);
  if (kind == "intel-rapl") return 0;
  if (kind == "intel-rapl-mmio") return 1;
  return zone.source == "perf" ? 2 : 3;
}

std::string at_host(const std::string& host) {
  return host.empty() ? std::string() : host + ": ";
}

// "package-0" or "dram of package-0"; with the host's name if the trace has several.
std::string name_of(const model::EnergyZone& zone) {
  std::string text = zone.name;
  if (!zone.package.empty() && zone.package != zone.name) text += " of " + zone.package;
  return at_host(zone.host) + text;
}

std::string why_not_measured(const model::EnergyZone& zone, const Counter* counter,
                             const EnergyMeter& meter, std::uint64_t open_ns) {
  if (zone.gone_ns != 0) {
    const double after_s =
        zone.gone_ns > open_ns ? static_cast<double>(zone.gone_ns - open_ns) * 1e-9 : 0;
    return fmt::format("{} after {:.1f} s", zone.missing.empty() ? "vanished" : zone.missing,
                       after_s);
  }
  if (!zone.missing.empty()) return zone.missing;
  if (counter == nullptr || counter->covered_ns() == 0) return "was not read twice";
  if (counter->is_doubtful())
    return fmt::format("its readings, at most {:.1f} s apart, do not tell how often it wrapped",
                       static_cast<double>(counter->longest_gap_ns()) * 1e-9);
  const double covered_s = static_cast<double>(counter->covered_ns()) * 1e-9;
  if (covered_s < kLeastCovered * meter.duration_s())
    return fmt::format("was read for {:.1f} of {:.1f} s only", covered_s, meter.duration_s());
  return {};
}

ZoneEnergy measured(const model::EnergyZone& zone, const EnergyMeter& meter) {
  ZoneEnergy one = {.about = zone, .domain = domain_of(zone)};
  const Counter* const counter = meter.zone(zone.id);
  if (counter != nullptr) {
    one.joules = counter->amount() * 1e-6;
    one.covered_s = static_cast<double>(counter->covered_ns()) * 1e-9;
    one.readings = counter->readings();
    one.wraps = counter->wraps();
  }
  one.why_not = why_not_measured(zone, counter, meter, meter.open_ns());
  return one;
}

// Zones that measure the same thing: by host, package and domain.
using Key = std::tuple<std::string, std::string, Domain>;
// The zones of each kind, the kind that counts first at the beginning.
using Kinds = std::map<std::pair<int, std::string>, std::vector<ZoneEnergy*>>;

bool is_measured(const std::vector<ZoneEnergy*>& zones) {
  return std::ranges::all_of(zones, [](const ZoneEnergy* zone) { return zone->is_measured(); });
}

// Chooses one kind of counter and sets the others aside. Returns its power, or why there is none.
DomainEnergy choose(const Kinds& kinds) {
  auto chosen =
      std::ranges::find_if(kinds, [](const auto& kind) { return is_measured(kind.second); });
  const bool is_known = chosen != kinds.end();
  if (!is_known) chosen = kinds.begin();
  DomainEnergy one;
  if (is_known) one.watts = 0;
  for (const auto& [kind, zones] : kinds)
    for (ZoneEnergy* const zone : zones) {
      if (kind != chosen->first)
        zone->aside = "repeats " + chosen->second.front()->about.place;
      else if (is_known)
        *one.watts += zone->watts();
      else if (!zone->is_measured() && one.why_not.empty())
        one.why_not = name_of(zone->about) + " " + zone->why_not;
    }
  return one;
}

void add(DomainEnergy& to, const DomainEnergy& more) {
  if (!more.watts && to.why_not.empty()) to.why_not = more.why_not;
  if (!to.why_not.empty())
    to.watts.reset();
  else
    to.watts = to.watts.value_or(0) + more.watts.value_or(0);
}

const DomainEnergy* find(const std::vector<DomainEnergy>& domains, Domain domain) {
  const auto found = std::ranges::find(domains, domain, &DomainEnergy::domain);
  return found == domains.end() ? nullptr : &*found;
}

std::string why_no_packages(const model::Energy& about) {
  std::string why;
  for (const model::EnergyMissing& missing : about.missing) {
    if (missing.what != "powercap" && missing.what != "perf") continue;
    why += fmt::format("{}{}{}", why.empty() ? "" : "; ", at_host(missing.host), missing.why);
  }
  return why.empty() ? "no zone is a package" : why;
}

// Returns the reason if a host has no energy readings at all, so that every sum lacks it.
std::string host_without_energy(const model::Energy& about) {
  for (const model::EnergyMissing& missing : about.missing)
    if (missing.what == "energy") return at_host(missing.host) + missing.why;
  return {};
}

void add_total(const model::Energy& about, EnergyFigures& figures) {
  const DomainEnergy* const packages = find(figures.domains, Domain::kPackage);
  figures.why_not = host_without_energy(about);
  if (!figures.why_not.empty()) return;
  if (packages == nullptr || !packages->watts) {
    figures.why_not = packages == nullptr ? why_no_packages(about) : packages->why_not;
    return;
  }
  figures.watts = packages->watts;
  const DomainEnergy* const dram = find(figures.domains, Domain::kDram);
  figures.has_dram = dram != nullptr && dram->watts;
  if (figures.has_dram) *figures.watts += *dram->watts;
}

}  // namespace

std::string_view name(Domain domain) {
  switch (domain) {
    case Domain::kPackage:
      return "package";
    case Domain::kCore:
      return "core";
    case Domain::kUncore:
      return "uncore";
    case Domain::kDram:
      return "dram";
    case Domain::kPsys:
      return "psys";
    case Domain::kOther:
      break;
  }
  return "other";
}

Domain domain_of(const model::EnergyZone& zone) {
  if (zone.name.starts_with("package-")) return Domain::kPackage;
  for (const Domain domain : kDomains)
    if (domain != Domain::kPackage && zone.name == name(domain)) return domain;
  return Domain::kOther;
}

std::optional<double> EnergyFigures::joules() const {
  if (!watts) return std::nullopt;
  return *watts * duration_s;
}

EnergyFigures energy_figures(const EnergyMeter& meter, std::string_view cpu_model) {
  const model::Energy& about = meter.about();
  EnergyFigures figures = {.duration_s = meter.duration_s()};
  figures.missing = about.missing;
  for (const model::EnergyZone& zone : about.zones) figures.zones.push_back(measured(zone, meter));
  std::map<Key, Kinds> groups;
  for (ZoneEnergy& zone : figures.zones) {
    if (zone.domain == Domain::kOther)
      zone.aside = "is of no known domain";
    else if (zone.domain == Domain::kCore && zone.about.source == "powercap" &&
             cpu_model.starts_with("AMD"))
      zone.aside = "is of one core only, as AMD's processors count";
    else
      groups[{zone.about.host, zone.about.package, zone.domain}]
            [{rank_of(zone.about), std::string(kind_of(zone.about))}]
                .push_back(&zone);
  }
  std::map<Domain, DomainEnergy> domains;
  for (const auto& [key, kinds] : groups) {
    const Domain domain = std::get<Domain>(key);
    DomainEnergy& of_all = domains[domain];
    of_all.domain = domain;
    add(of_all, choose(kinds));
  }
  for (auto& [domain, of_all] : domains) figures.domains.push_back(std::move(of_all));
  add_total(about, figures);
  for (const model::FrequencyPolicy& policy : about.policies) {
    const Frequencies* const khz = meter.policy(policy.id);
    figures.policies.push_back({.about = policy, .khz = khz == nullptr ? Frequencies() : *khz});
  }
  for (const model::IdleState& state : about.idle_states) {
    IdleShare& one = figures.idle.emplace_back(IdleShare{.about = state, .share = std::nullopt});
    const Counter* const counter = meter.idle(state.id);
    if (counter == nullptr || counter->is_doubtful() || counter->covered_ns() == 0) continue;
    one.share = counter->amount() * 1e3 /
                (static_cast<double>(counter->covered_ns()) * std::max(state.cpus, 1U));
  }
  return figures;
}

}  // namespace sojourn::energy
