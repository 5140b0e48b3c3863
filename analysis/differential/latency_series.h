// Latencies by direction and group in the order in which packets began, for bands around their
// distributions. Memory: 16 bytes a packet. One thread owns a LatencySeries.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/differential/distribution_band.h"
#include "analysis/journeys/journey.h"

namespace sojourn::differential {

class LatencySeries : public journeys::Observer {
 public:
  using NameOf = std::function<std::string(const journeys::Journey&)>;

  // Takes only values from add().
  LatencySeries() = default;
  // Takes complete journeys, by their names.
  explicit LatencySeries(NameOf name_of) : name_of_(std::move(name_of)) {}

  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override {
    if (journey.has_latency())
      add(letter(journey.direction), name_of_(journey), journey.start_ns, journey.latency_ns());
  }

  void add(char direction, const std::string& name, std::uint64_t start_ns,
           std::uint64_t latency_ns) {
    series_[{direction, name}].push_back({start_ns, latency_ns});
  }

  // The 95 % interval of the share of packets that took longer. Nothing with too little data, or
  // without such packets.
  std::optional<ShareInterval> above(char direction, const std::string& name, std::uint64_t ns);

 private:
  struct Packet {
    std::uint64_t start_ns = 0;
    std::uint64_t latency_ns = 0;
  };
  using Key = std::pair<char, std::string>;

  NameOf name_of_;
  std::map<Key, std::vector<Packet>> series_;
  std::map<Key, DistributionBand> bands_;  // made when first asked for
};

}  // namespace sojourn::differential
