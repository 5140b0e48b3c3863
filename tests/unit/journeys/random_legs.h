// A made-up uplink over two legs: most packets are sent over both, cut by grants, with HARQ rounds
// and losses of each leg's own, so copies overtake each other. PDCP discards the second copy, holds
// packets that came too early, and delivers in order. The same seed gives the same traffic
// everywhere.
#pragma once

#include <cstdint>

#include "tests/basestation/truth.h"

namespace sojourn::journeys {

struct Legs {
  std::uint32_t seed = 1;
  std::uint32_t ues = 3;
  std::uint32_t actions = 3000;
  std::uint32_t loss_percent = 20;       // of each transmission over the air
  std::uint32_t duplicate_percent = 60;  // of packets
  std::uint64_t sequence = 64;           // numbers there are: so few that they wrap all the time
};

truth::Truth random_legs(const Legs& legs);

}  // namespace sojourn::journeys
