// What a point of a map that the program has no place for takes with it: behind it the path begins
// anew, as nothing leads there any more. No state.
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

// "D a--b", of points on a unit's path that are nowhere placed, each name once.
std::vector<std::string> unplaced_points(std::span<const MapRow> rows);
// One line for each of these that something stands behind.
std::vector<std::string> gap_remarks(std::span<const MapRow> rows);

}  // namespace sojourn::coarse
