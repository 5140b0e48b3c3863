// An open energy counter: a file of powercap, or an event of perf. Reading it needs none of the
// rights that opening it did. One thread owns an EnergyCounter.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/capture/energy/energy_tree.h"

namespace sojourn::capture {

class EnergyCounter {
 public:
  // The error says why it may not be read.
  static Result<EnergyCounter> open(const PowercapZone& zone);
  static Result<EnergyCounter> open(const PowerEvent& event);

  // Microjoules since it began to count.
  Result<std::uint64_t> read() const;

 private:
  EnergyCounter(base::Fd file, double unit_uj) : file_(std::move(file)), unit_uj_(unit_uj) {}

  base::Fd file_;
  double unit_uj_;  // 0: it is a text, of microjoules
};

}  // namespace sojourn::capture
