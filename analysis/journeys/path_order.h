// The path of packets through a topology for people: places in the order in which units come
// through them, and the path's begin and end. No state.
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

// Returns whether the pair's times are stays in its place: the unit went on, and was neither
// dropped nor acknowledged.
bool is_stay(const Topology& topology, std::size_t pair);

// The pairs that are stays, by place.
std::vector<std::vector<std::size_t>> stays_by_place(const Topology& topology);

// "ip.in -> phy.out.ant": the inputs and outputs that were hit, without points that are both.
std::string path_ends(const Topology& topology, const model::Schema& schema,
                      model::Direction direction, const std::function<bool(std::size_t)>& was_hit);

}  // namespace sojourn::journeys
