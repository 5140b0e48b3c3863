// Finds packets that two hosts saw: a unit that left by a point of one host and came by a point of
// the other that the first one feeds, with the same ids. Ids are used again, so only packets that
// are seen once at each count. One thread owns a SightingSearch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::differential {

class SightingSearch {
 public:
  // The schema and the topology are those of all hosts together.
  SightingSearch(const model::Schema& schema, const journeys::Topology& topology);

  void add(std::size_t host, model::PointId point, std::uint64_t ts_ns,
           std::span<const std::uint64_t> values);

  struct Found {
    std::size_t from = 0;  // hosts
    std::size_t to = 0;
    std::uint64_t sent_ns = 0;
    std::uint64_t came_ns = 0;
    std::string ids;  // the ids that identify the packet; an answer has its question's
  };
  std::vector<Found> found() const;

 private:
  struct Side {
    std::size_t host = 0;
    std::uint64_t ts_ns = 0;
    std::uint32_t count = 0;
  };
  struct Unit {
    std::vector<Side> left;  // of hosts that saw it
    std::vector<Side> came;
  };
  // A point's part in a pair.
  struct Use {
    std::uint32_t pair = 0;
    bool is_parent = false;
    std::vector<std::size_t> fields;
  };

  // The ids of a key, without the pair that it is of.
  std::string ids_of(const std::string& key) const;

  std::vector<std::string> names_;      // of the ids, by pair
  std::vector<std::vector<Use>> uses_;  // by point
  std::unordered_map<std::string, Unit> units_;
};

}  // namespace sojourn::differential
