// Places and operated queues as JSON and as a graph; docs/queues.md lists the members.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/present/words/graph.h"
#include "analysis/queues/operations.h"
#include "analysis/queues/places.h"
#include "analysis/queues/pressure_net.h"

namespace sojourn::present {

// With details: the time at each depth, and depth over time.
nlohmann::ordered_json places_json(const queues::Places& places, const journeys::Topology& topology,
                                   const std::map<std::uint32_t, std::string>& threads,
                                   bool details);
nlohmann::ordered_json operations_json(const queues::Operations& operations,
                                       const std::map<std::uint32_t, std::string>& threads,
                                       bool details);
nlohmann::ordered_json chains_json(const std::vector<queues::Chain>& chains,
                                   const std::vector<queues::PressureName>& names);

// Places, and queues with events of their operations, as arrows between the threads that feed and
// drain them.
Graph flow_graph(const queues::Places& places, const journeys::Topology& topology,
                 const queues::Operations& operations,
                 const std::map<std::uint32_t, std::string>& threads);

}  // namespace sojourn::present
