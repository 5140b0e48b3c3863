// Finds which release a program is, by functions that one release has and another has not, as maps
// list them. They are queried together with the maps' points. One thread; lives for one search.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "userspace/coarse/functions/function_search.h"
#include "userspace/coarse/map/map_file.h"

namespace sojourn::coarse {

class ReleaseMarks {
 public:
  // The maps outlive it.
  explicit ReleaseMarks(std::span<const Map> maps);

  // One query for each function that distinguishes releases; results come in the same order, by
  // file.
  std::vector<Query> queries() const;
  void take(std::span<const SearchResult> results);

  // Returns whether the program, as far as it was searched, is a release without the point.
  bool leaves_out(const Map& map, const MapPoint& point) const;

  // A line "NAME.toml: ..." for each map that lists releases.
  std::vector<std::string> remarks() const;

 private:
  bool is_there(const std::string& function) const;
  const MapRelease* release_of(const Map& map) const;

  std::span<const Map> maps_;
  std::vector<std::string> functions_;
  std::vector<bool> are_there_;
};

}  // namespace sojourn::coarse
