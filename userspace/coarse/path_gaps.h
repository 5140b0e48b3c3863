// Finds the gaps in a unit's path: points of a map that the program does not have. A path ends
// before such a point and begins anew behind it, unless others lead there. No state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "userspace/coarse/map/map_file.h"

namespace sojourn::coarse {

struct MapRow {
  const MapPoint* point = nullptr;
  bool is_placed = false;
};

// The names ("D a--b") of points on a unit's path that were not placed, each once.
std::vector<std::string> unplaced_points(std::span<const MapRow> rows);
// One line for each of these at which a path ends or begins anew.
std::vector<std::string> gap_remarks(std::span<const MapRow> rows);

}  // namespace sojourn::coarse
