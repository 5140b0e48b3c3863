// Counts the distinct segments of a packet: the most that its journey has at any one point. A
// segment that is sent or received again is not counted again, also where only the later round came
// as far as the point. Needed only for journeys with repeats that go further than the first round,
// or with loops. One thread owns it.
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

  // Begins another journey.
  void start();
  // Adds the next step of the journey. The step that it repeats and its parents were added before.
  // The memory of `parents` must stay valid until the last step was added.
  void add(PointId point, std::uint32_t repeat_of, std::span<const std::uint32_t> parents);
  std::uint32_t most() const { return most_; }
  // Returns whether an earlier step brought the segment to the same point.
  bool is_again(std::size_t step) const { return seen_[step].piece != step; }

 private:
  struct Seen {
    std::span<const std::uint32_t> parents;
    std::uint32_t piece = 0;           // the first step of its segment at the point
    std::uint32_t previous = kNoStep;  // the step before at the same point
    PointId point = 0;
    bool later = false;    // of a later round, or of a descendant of one
    bool repeats = false;  // it repeats another step of the point
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
