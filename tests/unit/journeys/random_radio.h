// A made-up radio whose every step is known: random packets, cuts, blocks, losses, repeats, drops
// and duplicates of several UEs, with sequence numbers so short that they wrap all the time. The
// same seed gives the same traffic everywhere.
#pragma once

#include <cstdint>

#include "tests/basestation/truth.h"

namespace sojourn::journeys {

struct Radio {
  std::uint32_t seed = 1;
  std::uint32_t ues = 3;
  std::uint32_t actions = 3000;
  std::uint32_t loss_percent = 20;   // of each transmission over the air
  std::uint32_t drop_percent = 3;    // of units that a layer throws away
  std::uint32_t repeat_percent = 5;  // of AM SDUs: sent again although they arrived
  std::uint64_t sequence = 32;       // numbers there are: so few that they wrap all the time
};

truth::Truth random_radio(const Radio& radio);

}  // namespace sojourn::journeys
