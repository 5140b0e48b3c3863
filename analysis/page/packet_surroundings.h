// The other packets in the picture of one: how long units stayed in the same hops, and which
// packets were in the same blocks. One thread owns a HopTimes or a BlockCompanions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::page {

// The stays of all units by hop, as `sojourn report` has them.
class HopTimes : public journeys::Observer {
 public:
  explicit HopTimes(const journeys::Topology& topology);

  bool wants_steps() const override { return false; }
  bool wants_order() const override { return false; }
  void on_journey(const journeys::Journey&) override {}
  void on_stay(const journeys::Stay& stay) override {
    times_ns_[stay.pair].add(stay.left_ns - stay.entered_ns);
  }

  // Returns the share of the stays between two points that took at most `ns`, or nothing if no unit
  // went from one to the other.
  std::optional<double> at_most(model::PointId parent, model::PointId child,
                                std::uint64_t ns) const;

 private:
  std::vector<statistics::Distribution> times_ns_;  // by pair
  std::map<std::pair<model::PointId, model::PointId>, std::size_t> pairs_;
};

// Identifies an event of a journey: its stream, and its number there.
struct EventKey {
  std::uint32_t stream = 0;
  std::uint64_t seq = 0;
  auto operator<=>(const EventKey&) const = default;
};

// Finds the journeys that share events with the given ones: they were in the same blocks.
class BlockCompanions : public journeys::Observer {
 public:
  static constexpr std::size_t kMostJoined = 200;  // for each journey

  // An event of a journey. Parents are indices in the journey's events, which are in the order of
  // its steps.
  struct Event {
    EventKey key;
    std::vector<std::uint32_t> parents;
  };
  // Adds a journey whose companions are to be found. Called before the pass, once for a journey.
  void add(std::uint64_t journey, std::vector<Event> events);

  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  // [{"event", "others"}]: the number of other journeys that have this event, too.
  nlohmann::ordered_json shared(std::uint64_t journey) const;
  // [{"event", "journey", "from_ns"}]: the units of other journeys that this event put into one
  // block with the packet's, and when they came to the place.
  nlohmann::ordered_json joined(std::uint64_t journey) const;

 private:
  struct Joined {
    std::uint32_t event = 0;
    std::uint64_t journey = 0;
    std::uint64_t from_ns = 0;
  };
  struct Packet {
    std::vector<Event> events;
    std::map<std::uint32_t, std::uint64_t> others;  // by event
    std::vector<Joined> joined;
  };
  struct Place {
    std::uint64_t packet = 0;
    std::uint32_t event = 0;
  };
  void join(const Place& place, const journeys::Journey& other, const journeys::Step& step);

  std::map<std::uint64_t, Packet> packets_;
  std::multimap<EventKey, Place> known_;
};

}  // namespace sojourn::page
