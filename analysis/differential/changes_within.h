// From when on, within one run, a latency or a stay is on another level: change points of the means
// of its blocks. Blocks are long against the time for which packets resemble each other, as that is
// in the run's parts: over a whole run with a change all packets of one side resemble each other.
// Plain functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/differential/blocks.h"
#include "analysis/differential/change_points.h"
#include "analysis/differential/run_figures.h"

namespace sojourn::differential {

// The least length of such a block, in times for which packets resemble each other. It is longer
// than for comparisons of two runs: neighbours that still resemble each other look like a level.
inline constexpr double kChangeBlockFactor = 8;

// Blocks of a series whose level may change. Nothing if it is too short for kMinBlocks.
std::optional<Blocks> blocks_between_changes(std::span<const float> series);

struct SeriesWithin {
  char direction = 'D';
  std::string name;
  bool is_latency = false;
  std::size_t packets = 0;
  std::size_t block_packets = 0;             // 0: too few packets for blocks
  std::vector<double> mean_ns = {};          // of each block
  std::vector<std::uint64_t> start_ns = {};  // of its first packet
  double resolution_ns = 0;                  // a level that shifts by at most this has not changed
  std::vector<ChangePoint> changes = {};
};

struct ChangesWithin {
  std::vector<SeriesWithin> series;
  std::size_t blocks_needed = 0;  // by a series, to show a change in its middle
};

// `level`: of all series together.
ChangesWithin changes_within(const RunFigures& run, double level);

}  // namespace sojourn::differential
