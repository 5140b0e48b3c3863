// Loops that points make of themselves (a block that could not be decoded goes back to where its
// next round is waited for), as far as nothing feeds them from outside: units must come in
// somewhere inside, and where is for the traffic to say. Points are never many, but their schema
// comes from a file: time is linear in the pairs, without recursion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sojourn::journeys {

struct Pair;

// By point: the number of its loop, from 1; 0 where it is in none, or in one that is fed.
std::vector<std::uint16_t> find_unfed_loops(std::size_t points, std::span<const Pair> pairs);

}  // namespace sojourn::journeys
