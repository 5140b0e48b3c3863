#include "analysis/model/pattern.h"

#include <fnmatch.h>

namespace sojourn::model {

bool matches_pattern(const Point& point, const std::string& pattern) {
  const std::string name = point.name();
  const std::string with_direction = std::string(1, letter(point.direction)) + ' ' + name;
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
         fnmatch(pattern.c_str(), with_direction.c_str(), 0) == 0;
}

}  // namespace sojourn::model
