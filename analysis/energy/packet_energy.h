// A packet's share of the energy of a capture, and how it goes with its latency. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "analysis/statistics/distribution.h"

namespace sojourn::energy {

struct DirectionEnergy {
  std::uint64_t packets = 0;             // complete ones with a latency
  std::optional<double> joules;          // all energy, over the packets of this direction alone
  std::optional<double> energy_delay_2;  // the mean of E x T x T, in J s s
};

struct PacketEnergy {
  std::uint64_t packets = 0;                  // of both directions
  std::optional<double> joules;               // all energy over all of them: a packet's share, E
  std::array<DirectionEnergy, 2> directions;  // downlink, uplink
};

// Unknown if the energy is, and for a direction without packets.
PacketEnergy packet_energy(std::optional<double> joules, const statistics::Distribution& down_ns,
                           const statistics::Distribution& up_ns);

}  // namespace sojourn::energy
