// Which release of a program this is, as maps tell them apart by functions that one has and another
// has not. Asked of the files together with the maps' points. One thread; lives for one search.
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

  // One for each function that tells releases apart; their results in the same order, of each file.
  std::vector<Query> queries() const;
  void take(std::span<const SearchResult> results);

  // "NAME.toml: ...", of each map that tells releases apart.
  std::vector<std::string> remarks() const;

 private:
  bool is_there(const std::string& function) const;

  std::span<const Map> maps_;
  std::vector<std::string> functions_;
  std::vector<bool> are_there_;
};

}  // namespace sojourn::coarse
