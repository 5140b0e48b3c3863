// What `sojourn diff` prints: a text for people and an object for programs. Effect sizes stand
// first.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/differential/difference.h"

namespace sojourn::present {

struct DifferenceContent {
  std::span<const differential::RunFigures> base;
  std::span<const differential::RunFigures> now;
  const differential::Difference& found;
  double level = 0.05;
  std::size_t width = SIZE_MAX;
};

std::string difference_text(const DifferenceContent& content);
nlohmann::ordered_json difference_json(const DifferenceContent& content);

}  // namespace sojourn::present
