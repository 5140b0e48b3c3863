// What the picture of one packet says of others: how long units stayed in the same hops, and which
// packets were in the same blocks. One thread owns each.
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

  // The share of the stays between two points that took at most so long; none: nobody went there.
  std::optional<double> at_most(model::PointId parent, model::PointId child,
                                std::uint64_t ns) const;

 private:
  std::vector<statistics::Distribution> times_ns_;  // by pair
  std::map<std::pair<model::PointId, model::PointId>, std::size_t> pairs_;
};

// An event of one journey: of which stream, with which number. Its time.
struct EventKey {
  std::uint32_t stream = 0;
  std::uint64_t seq = 0;
  auto operator<=>(const EventKey&) const = default;
};

// Finds the journeys that share events with some: they were in the same block.
class BlockCompanions : public journeys::Observer {
 public:
  static constexpr std::size_t kMostJoined = 200;  // of each

  // The journey's events in the order of its steps, each with its parents.
  struct Event {
    EventKey key;
    std::vector<std::uint32_t> parents;
  };
  // Before the pass, each journey once.
  void add(std::uint64_t journey, std::vector<Event> events);

  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  // [{"event", "others"}]: in so many other journeys this event of the journey is, too.
  nlohmann::ordered_json shared(std::uint64_t journey) const;
  // [{"event", "journey", "from_ns"}]: units of others that became one with the packet's by this
  // event, and when they came to the place.
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
