// The way of packets through a topology, as people read it: places in the order in which units come
// through them, and where the way begins and ends. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

std::vector<std::uint16_t> places_in_order(const Topology& topology, model::Direction direction);
// The places of all directions that packets have, one direction after the other.
std::vector<std::uint16_t> places_in_order(const Topology& topology);

// "ip.in -> phy.out.ant", from the points that were hit, but for those that are both.
std::string path_ends(const Topology& topology, const model::Schema& schema,
                      model::Direction direction, const std::function<bool(std::size_t)>& was_hit);

}  // namespace sojourn::journeys
