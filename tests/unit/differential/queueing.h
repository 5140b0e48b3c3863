// Made-up queues, seeded: one server each, exponential times, as in textbooks (M/M/1). The way in
// from behind is the way out of the one before, so several are a line of stages. In us.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace sojourn::differential {

struct Stages {
  std::vector<std::vector<float>> stays;  // by stage, in the order of arrival
  std::vector<float> total;
};

// `extra_us`: the additional service time of every packet in this stage.
inline Stages make_queues(std::uint64_t seed, std::size_t packets, double load, std::size_t stages,
                          std::size_t slow_stage = SIZE_MAX, double extra_us = 0) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> gap(load / 100.0);
  std::exponential_distribution<double> service(1 / 100.0);
  Stages made;
  made.stays.resize(stages);
  std::vector<double> free_at(stages);
  double arrival = 0;
  // The queues are empty at first, so the first packets are not counted.
  const std::size_t warm_up = packets / 4;
  for (std::size_t at = 0; at < packets + warm_up; ++at) {
    arrival += gap(random);
    double now = arrival;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const double extra = stage == slow_stage ? extra_us : 0;
      const double left = std::max(now, free_at[stage]) + service(random) + extra;
      free_at[stage] = left;
      if (at >= warm_up) made.stays[stage].push_back(static_cast<float>(left - now));
      now = left;
    }
    if (at >= warm_up) made.total.push_back(static_cast<float>(now - arrival));
  }
  return made;
}

}  // namespace sojourn::differential
