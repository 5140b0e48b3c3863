// Finds loops of points. A block that could not be decoded, for example, goes back to where its
// next round is waited for. Where nothing feeds a loop from outside, units come in at one of its
// points; the traffic shows which (assemble/loop_inputs.h). Where no output is reached from a loop,
// it may have been closed by the names of its places only. The schema comes from a file, so time is
// linear in the pairs, and nothing recurses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sojourn::journeys {

struct Pair;

// One point may feed another.
struct Edge {
  std::uint16_t parent = 0;
  std::uint16_t child = 0;
};

// Each vector is by point.
struct Loops {
  // The number of a loop that nothing feeds, from 1. 0: the point is in none.
  std::vector<std::uint16_t> unfed;
  std::vector<bool> any;  // the point is in a loop, fed or not
};
Loops find_loops(std::size_t points, std::span<const Pair> pairs);

// By point, the number of its part, below the number of points. Points of different parts do not
// touch, not even by way of other points.
std::vector<std::size_t> find_parts(std::size_t points, std::span<const Pair> pairs);

// By edge, whether it is in a loop from which no output is reached.
std::vector<bool> find_blind_loops(std::span<const Edge> edges, const std::vector<bool>& outputs);

}  // namespace sojourn::journeys
