// --worst and --sample of `sojourn export`: which journeys go where not all can.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class ChoiceOptions {
 public:
  void define(Arguments& arguments);
  bool given() const { return !worst_.empty() || !sample_.empty(); }

  // The slowest journeys of each direction.
  std::size_t worst() const;
  // The size of the sample; nothing if all journeys are exported.
  std::optional<std::size_t> sample() const;

 private:
  std::string worst_;
  std::string sample_;
};

}  // namespace sojourn::cli
