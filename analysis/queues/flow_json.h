// Places and operated queues as JSON, and what they are called; docs/queues.md lists the members.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/queues/operations.h"
#include "analysis/queues/places.h"
#include "analysis/queues/pressure_net.h"

namespace sojourn::queues {

std::string place_text(const journeys::Topology& topology, std::uint16_t place);  // "D pdcp.in"

// With details: the time at each depth, and depth over time.
nlohmann::ordered_json places_json(const Places& places, const journeys::Topology& topology,
                                   const std::map<std::uint32_t, std::string>& threads,
                                   bool details);
nlohmann::ordered_json operations_json(const Operations& operations,
                                       const std::map<std::uint32_t, std::string>& threads,
                                       bool details);
nlohmann::ordered_json chains_json(const std::vector<Chain>& chains,
                                   const std::vector<PressureName>& names);

// The thread that did most of it: its name, "thread 42", or nothing.
std::string main_thread(const std::map<std::uint32_t, std::uint64_t>& units,
                        const std::map<std::uint32_t, std::string>& threads);

// Places, and queues with events of their operations, as arrows between the threads that feed and
// drain them, as Graphviz text.
std::string flow_dot(const Places& places, const journeys::Topology& topology,
                     const Operations& operations,
                     const std::map<std::uint32_t, std::string>& threads);

}  // namespace sojourn::queues
