// How far times of packets may be off in all of a run, by the error of stamps or of what a hit
// took. Averages do not make that smaller. In a merged trace a time between two stamps of one host
// has that host's error; a time between stamps of two hosts has the bound of their clocks.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/differential/segment_ranking.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/capture_info.h"

namespace sojourn::differential {

// The errors of the times of one direction.
struct TimeErrors {
  double latency_ns = 0;
  std::vector<std::pair<std::string, double>> stays_ns = {};  // by place

  double of_stay(std::string_view place) const;  // 0: no packet was there
};

// Looks at the journeys whose times are compared. Only traces of several hosts need that. One
// thread owns a TimeErrorFinder; its arguments must outlive it.
class TimeErrorFinder : public journeys::Observer {
 public:
  TimeErrorFinder(const model::Capture& capture, const journeys::Topology& topology);

  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  // The errors of the times of these packets, downlink and uplink.
  std::array<TimeErrors, 2> found(const std::array<RunOfPackets, 2>& packets) const;

 private:
  // The hosts whose stamps the times of one kind lie between.
  struct Ends {
    std::vector<bool> hosts;  // that made both stamps of a time
    bool cross_hosts = false;

    void add(std::size_t from, std::size_t to);
  };

  std::size_t host_of(const journeys::Step& step) const;
  double stamp_error_ns(const Ends& ends, const std::vector<float>& times_ns) const;

  const model::Capture& capture_;
  const journeys::Topology& topology_;
  std::array<Ends, 2> of_latency_;
  std::vector<Ends> of_place_;  // by place of the topology
};

}  // namespace sojourn::differential
