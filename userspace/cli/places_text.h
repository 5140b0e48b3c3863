// The text of `sojourn queues` about places between points and queues of which there are only
// events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/schema.h"
#include "analysis/queues/flow_json.h"
#include "analysis/queues/operations.h"
#include "analysis/queues/places.h"
#include "analysis/queues/pressure_net.h"

namespace sojourn::cli {

using ThreadNames = std::map<std::uint32_t, std::string>;

void print_places(const queues::Places& places, const journeys::Topology& topology,
                  const ThreadNames& threads, std::uint64_t origin_ns);
void print_place_depths(const queues::Places& places, const journeys::Topology& topology);
void print_place_threads(const queues::Places& places, const journeys::Topology& topology,
                         const ThreadNames& threads);
void print_operations(const queues::Operations& operations, std::uint64_t origin_ns);
void print_operation_depths(const queues::Operations& operations);
void print_operation_threads(const queues::Operations& operations, const ThreadNames& threads);
void print_chains(const std::vector<queues::Chain>& chains,
                  const std::vector<queues::PressureName>& names, std::uint64_t origin_ns);

}  // namespace sojourn::cli
