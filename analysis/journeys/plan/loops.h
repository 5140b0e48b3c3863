// Finds loops of points. For example, a block that could not be decoded goes back to the place
// where its next round is awaited. If no point feeds a loop from outside, units enter it at one of
// its points, which the traffic shows (assemble/loop_inputs.h). If no output can be reached from a
// loop, only the names of its places may have closed it. The schema comes from a file, so time is
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
  // The number, from 1, of the loop without an input that the point is in. 0: it is in none.
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
