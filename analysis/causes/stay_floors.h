// Finds the places that units pass as fast as the machine allows: compares the median of their
// stays with the measured time of the machine for the same hand-over. An Observer of the rebuild.
// One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/host/host_floors.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::causes {

class StayFloors : public journeys::Observer {
 public:
  explicit StayFloors(const journeys::Topology& topology) : topology_(topology) {}

  bool wants_steps() const override { return false; }
  void on_journey(const journeys::Journey&) override {}
  void on_stay(const journeys::Stay& stay) override;

  // A place whose units enter by one thread and leave by the same one, or by another one.
  struct Row {
    std::uint16_t place = 0;
    host::Handover handover = host::Handover::kSameThread;
    std::uint64_t count = 0;
    double median_ns = 0;
    host::Floor floor;
  };
  // Hops that are as fast as the machine allows, in the order of places. A hop of fewer than
  // kFewestStays stays is left out.
  static constexpr std::uint64_t kFewestStays = 20;
  std::vector<Row> as_fast_as_allowed(const host::HostProfile& machine) const;

 private:
  const journeys::Topology& topology_;
  std::map<std::pair<std::uint16_t, host::Handover>, statistics::Distribution> stays_ns_;
};

}  // namespace sojourn::causes
