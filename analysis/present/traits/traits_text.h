// The output of `sojourn why-slow`: a text for people and an object for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/differential/direction_traits.h"

namespace sojourn::present {

struct TraitsContent {
  std::string slow;  // the filter; empty: the slowest hundredth
  std::vector<differential::DirectionTraits> directions;
  std::uint64_t left_out = 0;
  std::size_t width = SIZE_MAX;
};

std::string traits_text(const TraitsContent& content);
nlohmann::ordered_json traits_json(const TraitsContent& content);

}  // namespace sojourn::present
