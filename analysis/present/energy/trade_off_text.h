// Runs at several settings: what each took, how late its packets were, and which of them are worth
// choosing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/energy/energy_account.h"
#include "analysis/energy/packet_energy.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::present {

struct EnergyOfRun {
  std::string path = {};
  std::optional<energy::EnergyFigures> figures = {};  // unset: no readings were requested
  energy::PacketEnergy packets = {};
  std::array<statistics::Distribution, 2> latency_ns;  // downlink, uplink
};

// The latency that runs are compared by: the mean, or that quantile.
struct ComparedBy {
  std::optional<double> quantile = {};
  std::string name = "mean";
};

std::string trade_off_text(std::span<const EnergyOfRun> runs, const ComparedBy& by,
                           std::size_t width);
nlohmann::ordered_json trade_off_json(std::span<const EnergyOfRun> runs, const ComparedBy& by);

}  // namespace sojourn::present
