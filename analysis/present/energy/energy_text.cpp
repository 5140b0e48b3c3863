#include "analysis/present/energy/energy_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using energy::Domain;
using energy::DomainEnergy;
using energy::EnergyFigures;
using energy::ZoneEnergy;

constexpr std::string_view kNotMeasured = "not measured";

std::string label(Domain domain) {
  switch (domain) {
    case Domain::kPackage:
      return "  packages";
    case Domain::kCore:
      return "    of it cores";
    case Domain::kUncore:
      return "    of it uncore";
    case Domain::kDram:
      return "  DRAM";
    case Domain::kPsys:
      return "  psys, never added";
    case Domain::kOther:
      break;
  }
  return "  other";
}

std::vector<std::string> row(std::string name, std::optional<double> watts, double duration_s) {
  if (!watts) return {std::move(name), std::string(kNotMeasured), std::string(kNotMeasured)};
  return {std::move(name), scaled(*watts * duration_s, "J"), scaled(*watts, "W")};
}

// "host: " if the trace has several hosts, else empty.
std::string whose(const std::string& host) {
  return host.empty() ? std::string() : printable(host) + ": ";
}

std::string packets_text(const energy::PacketEnergy& packets) {
  if (!packets.joules) return {};
  std::string text = fmt::format("energy a packet  {} (of {})", scaled(*packets.joules, "J"),
                                 count(packets.packets));
  constexpr std::string_view kLetters = "DU";
  for (std::size_t at = 0; at < packets.directions.size(); ++at) {
    const energy::DirectionEnergy& one = packets.directions[at];
    if (!one.joules) continue;
    text += fmt::format("   {} {}, E*T^2 {:.3g} J s^2", kLetters[at], scaled(*one.joules, "J"),
                        *one.energy_delay_2);
  }
  return text + "\n";
}

std::string frequency_text(const EnergyFigures& figures) {
  energy::Frequencies all;
  for (const energy::PolicyFrequency& policy : figures.policies) {
    all.readings += policy.khz.readings;
    all.sum_khz += policy.khz.sum_khz;
    all.least_khz = std::min(all.least_khz, policy.khz.least_khz);
    all.most_khz = std::max(all.most_khz, policy.khz.most_khz);
  }
  if (all.readings == 0) return {};
  return fmt::format(
      "frequency        {} on average ({} to {}); allowed: {}\n",
      scaled(all.mean_khz() * 1e3, "Hz"), scaled(static_cast<double>(all.least_khz) * 1e3, "Hz"),
      scaled(static_cast<double>(all.most_khz) * 1e3, "Hz"), frequency_setting(figures.policies));
}

std::string idle_text(const EnergyFigures& figures) {
  std::string text;
  for (const energy::IdleShare& state : figures.idle)
    text += fmt::format("   {}{} {}", whose(state.about.host), printable(state.about.name),
                        state.share ? percent(*state.share) : std::string(kNotMeasured));
  return text.empty() ? text : "idle          " + text + "\n";
}

std::string zone_note(const ZoneEnergy& zone) {
  const std::string name = whose(zone.about.host) + printable(zone.about.place);
  if (!zone.is_measured())
    return fmt::format("{}: {} {}: {}", kNotMeasured, name, printable(zone.about.name),
                       printable(zone.why_not));
  if (!zone.aside.empty())
    return fmt::format("not added: {} {}: it {}", name, printable(zone.about.name),
                       printable(zone.aside));
  return {};
}

std::string notes(const EnergyContent& content) {
  std::string text;
  const auto add = [&](const std::string& line) { text += wrapped(line, 2, content.width) + "\n"; };
  for (const ZoneEnergy& zone : content.figures.zones)
    if (const std::string note = zone_note(zone); !note.empty()) add(note);
  for (const model::EnergyMissing& missing : content.figures.missing)
    add(fmt::format("{}: {}{}: {}", kNotMeasured, whose(missing.host), printable(missing.what),
                    printable(missing.why)));
  return text;
}

std::string allowed_text(const model::FrequencyPolicy& policy) {
  if (policy.most_khz == 0) return "-";
  if (policy.least_khz == policy.most_khz)
    return scaled(static_cast<double>(policy.most_khz) * 1e3, "Hz");
  return fmt::format("{:.2f} to {:.2f} GHz{}{}", static_cast<double>(policy.least_khz) * 1e-6,
                     static_cast<double>(policy.most_khz) * 1e-6,
                     policy.governor.empty() ? "" : ", ", printable(policy.governor));
}

}  // namespace

std::string scaled(double value, std::string_view unit) {
  struct Prefix {
    double size;
    const char* text;
  };
  constexpr std::array kPrefixes = {Prefix{1e9, "G"}, Prefix{1e6, "M"},  Prefix{1e3, "k"},
                                    Prefix{1, ""},    Prefix{1e-3, "m"}, Prefix{1e-6, "u"},
                                    Prefix{1e-9, "n"}};
  if (value == 0) return fmt::format("0 {}", unit);
  const auto fits = std::ranges::find_if(
      kPrefixes, [&](const Prefix& prefix) { return std::abs(value) >= prefix.size * 0.9995; });
  const Prefix& prefix = fits == kPrefixes.end() ? kPrefixes.back() : *fits;
  const double number = value / prefix.size;
  const int digits = std::abs(number) < 9.995 ? 2 : std::abs(number) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}{}", number, digits, prefix.text, unit);
}

std::string energy_scope(const EnergyFigures& figures) {
  return figures.has_dram ? "packages and DRAM" : "packages";
}

std::string frequency_setting(std::span<const energy::PolicyFrequency> policies) {
  std::string one;
  for (const energy::PolicyFrequency& policy : policies) {
    const std::string text = allowed_text(policy.about);
    if (!one.empty() && one != text) return "different ones";
    one = text;
  }
  return one.empty() ? "-" : one;
}

std::string energy_text(const EnergyContent& content) {
  const EnergyFigures& figures = content.figures;
  std::string text = "\n";
  if (figures.watts || !figures.domains.empty()) {
    Table table({fmt::format("energy in {:.1f} s", figures.duration_s), "joules", "watts"});
    table.row(row(figures.watts ? "  " + energy_scope(figures) : "  in all", figures.watts,
                  figures.duration_s));
    for (const DomainEnergy& domain : figures.domains)
      if (domain.domain != Domain::kPackage || figures.has_dram || !figures.watts)
        table.row(row(label(domain.domain), domain.watts, figures.duration_s));
    text += table.text(content.width);
  }
  if (!figures.watts)
    text += wrapped(fmt::format("energy {}: {}", kNotMeasured, printable(figures.why_not)), 2,
                    content.width) +
            "\n";
  if (content.packets) text += packets_text(*content.packets);
  return text + frequency_text(figures) + idle_text(figures) + notes(content);
}

}  // namespace sojourn::present
