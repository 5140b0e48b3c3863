// Arrivals and departures of units by place: for a unit that was in a place, how many were ahead of
// it, and whether a later one had to leave before it. Kept for a while only. One thread owns a
// QueuePositions.
//
// If units of different flows (e.g. of rnti and drb) overtake each other, each flow is a queue of
// its own; else all units of the place are one queue. That is learnt from the traffic.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::causes {

class QueuePositions {
 public:
  // The topology outlives it.
  QueuePositions(const model::Schema& schema, const journeys::Topology& topology,
                 const journeys::Rules& rules);

  void add(const journeys::Stay& stay);
  void forget(std::uint64_t before_ns);
  std::size_t size() const { return size_; }

  // Returns the flow of a unit of the pair whose child has these values.
  std::uint64_t flow(std::uint32_t pair, std::span<const std::uint64_t> values) const;

  struct Ahead {
    std::uint64_t units = 0;       // units that entered and left before it
    std::uint64_t last_ns = 0;     // when the last of them left
    bool of_flow = false;          // they are of its flow; false: of any flow in the place
    std::uint64_t overtakers = 0;  // of its flow: entered later, left earlier
    std::uint64_t late_ns = 0;     // when the last of those entered
  };
  // The units ahead of one that was in the pair's place in [entered, left).
  Ahead ahead(std::uint32_t pair, std::uint64_t flow, std::uint64_t entered_ns,
              std::uint64_t left_ns) const;

 private:
  struct Departure {
    std::uint64_t left_ns = 0;
    std::uint64_t entered_ns = 0;
    std::uint64_t flow = 0;
  };
  struct Place {
    std::deque<Departure> left;  // in the order of leaving
    std::uint64_t units = 0;
    std::uint64_t passed = 0;  // units that a later one of another flow overtook
    std::uint64_t newest_ns = 0;
    std::uint64_t newest_flow = 0;
  };
  static bool is_one_fifo(const Place& place);

  const journeys::Topology& topology_;
  std::vector<journeys::FieldIndexes> flow_fields_;  // by pair, of the child
  std::vector<Place> places_;
  std::size_t size_ = 0;
};

}  // namespace sojourn::causes
