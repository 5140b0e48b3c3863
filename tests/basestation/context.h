// The common objects of all stages: the configuration, the flags that end the run, and the thread's
// log.
#pragma once

#include <atomic>
#include <string_view>

#include "tests/basestation/config.h"
#include "tests/basestation/truth_log.h"

namespace sojourn::basestation {

struct RunFlags {
  std::atomic<bool> offering = true;  // sources make traffic
  std::atomic<bool> working = true;   // clocks tick, sockets are read
};

struct Context {
  const Config& config;
  const RunFlags& flags;
  Log& log;

  StageFaults faults(std::string_view place) const {
    return config.faults.of(place, config.seed, flags.working);
  }
};

}  // namespace sojourn::basestation
