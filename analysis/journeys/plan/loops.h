// Loops that points make of themselves (a block that could not be decoded goes back to where its
// next round is waited for), as far as nothing feeds them from outside: units must come in
// somewhere inside, and where is for the traffic to say. Points are never many, but their schema
// comes from a file: time is linear in the pairs, without recursion. And loops that nothing comes
// out of, which a name alone may have closed.
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

// By point.
struct Loops {
  std::vector<std::uint16_t> unfed;  // the number of its loop, from 1; 0: in none, or in a fed one
  std::vector<bool> any;             // whether it is in one, fed or not
};
Loops find_loops(std::size_t points, std::span<const Pair> pairs);

// By point: the number of the part that it is in, below that of points. Points of different parts
// do not touch, nor do others between them.
std::vector<std::size_t> find_parts(std::size_t points, std::span<const Pair> pairs);

// By edge: whether it is part of a loop from which none of the outputs is reached.
std::vector<bool> find_blind_loops(std::span<const Edge> edges, const std::vector<bool>& outputs);

}  // namespace sojourn::journeys
