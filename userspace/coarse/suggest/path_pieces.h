// The pieces of the ways that were found by addresses. Where a packet is copied it has another
// address behind; but a function that has the copy may be called within a call of the function that
// had the packet, which joins two pieces. No state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "userspace/coarse/suggest/data_flow.h"

namespace sojourn::coarse {

// Joins the first function of a way to the last one of another way, if most of its calls lie within
// open calls of that function, on the same thread, and most of those have one. `calls` may be in
// any order.
void join_nested(std::span<const WatchedCall> calls,
                 std::span<std::optional<DataFlowStep>> ways_by_function);

// Functions that units reach from one function.
struct PathPiece {
  std::size_t first = 0;  // functions
  std::size_t last = 0;   // farthest from there
  std::size_t functions = 0;

  bool operator==(const PathPiece&) const = default;
};

// In the order of their first functions.
std::vector<PathPiece> pieces_of(std::span<const std::optional<DataFlowStep>> ways_by_function);

}  // namespace sojourn::coarse
