// The energy of a trace in a report and in `sojourn energy`. An energy that was not measured is
// shown as its reason, without a figure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/energy/energy_account.h"
#include "analysis/energy/packet_energy.h"
#include "analysis/model/energy_info.h"

namespace sojourn::present {

inline constexpr std::string_view kNoEnergyRecorded =
    "not recorded: `sojourn record --energy` reads it";

// "3.12 mJ", "31.2 W", "2.40 GHz"
std::string scaled(double value, std::string_view unit);

// "packages and DRAM": the parts of the total, if there is one.
std::string energy_scope(const energy::EnergyFigures& figures);

// The allowed frequencies: "1.20 GHz", "0.80 to 3.50 GHz, powersave", "-".
std::string frequency_setting(std::span<const energy::PolicyFrequency> policies);

struct EnergyContent {
  const energy::EnergyFigures& figures;
  std::optional<energy::PacketEnergy> packets = {};  // unset: the report has some packets only
  std::size_t width = SIZE_MAX;
};

std::string energy_text(const EnergyContent& content);

// Null: the trace has no readings, as none were asked for.
nlohmann::ordered_json energy_json(const EnergyContent* content);

}  // namespace sojourn::present
