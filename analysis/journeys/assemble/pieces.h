// How many distinct pieces a packet was in: the most that its journey has at any one point. What
// was sent or received again is the piece that it was before, also where only the later round came
// as far as the point. Asked only of journeys in which that is not plain. One thread owns a Pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

class Pieces {
 public:
  explicit Pieces(const Topology& topology)
      : topology_(topology), points_(topology.points.size()) {}

  // Another journey.
  void start();
  // Its next step. What it repeats and its parents are steps before it; these stay where they are
  // until the last step was added.
  void add(PointId point, std::uint32_t repeat_of, std::span<const std::uint32_t> parents);
  std::uint32_t most() const { return most_; }
  // Whether the step's piece had come to its point by an earlier one.
  bool is_again(std::size_t step) const { return seen_[step].piece != step; }

 private:
  struct Seen {
    std::span<const std::uint32_t> parents;
    std::uint32_t piece = 0;           // the step by which it came to the point first
    std::uint32_t previous = kNoStep;  // at the same point
    PointId point = 0;
    bool later = false;    // of a later round, or whatever came of that
    bool repeats = false;  // another step of the point, so its parents have no child more
  };
  struct Here {
    std::uint32_t newest = kNoStep;
    std::uint32_t pieces = 0;
  };

  std::uint32_t came_before(PointId point, std::span<const std::uint32_t> parents) const;
  std::uint32_t counterpart(const Seen& seen, std::uint32_t parent);

  const Topology& topology_;
  std::vector<Seen> seen_;    // by step
  std::vector<Here> points_;  // by point
  std::vector<std::uint32_t> brothers_;
  std::uint32_t most_ = 1;
};

}  // namespace sojourn::journeys
