// A made-up radio whose UEs change their RNTI: units that waited under the old one are forwarded,
// blocks under way are given up, and the first block after it comes under a temporary RNTI. Packets
// enter and leave with a TEID only, and many points have one id several times. The same seed gives
// the same traffic everywhere.
#pragma once

#include <cstdint>

#include "tests/basestation/truth.h"

namespace sojourn::journeys {

struct Roaming {
  std::uint32_t seed = 1;
  std::uint32_t ues = 3;
  std::uint32_t actions = 3000;
  std::uint32_t loss_percent = 20;     // of each transmission over the air
  std::uint32_t handover_percent = 2;  // of actions
  std::uint64_t sequence = 32;         // numbers there are: so few that they wrap all the time
};

truth::Truth random_roaming(const Roaming& roaming);

}  // namespace sojourn::journeys
