// What `sojourn why-slow` prints: a text for people and an object for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/differential/traits.h"

namespace sojourn::present {

struct TraitsOfDirection {
  char direction = 'D';
  std::uint64_t packets = 0;
  std::uint64_t slow = 0;
  std::uint64_t slow_from_ns = 0;  // 0: slow is what a filter says
  std::size_t blocks = 0;          // that were permuted; below 8: too little data for p-values
  std::vector<differential::Trait> traits;
};

struct TraitsContent {
  std::string slow;  // the filter; empty: the slowest hundredth
  std::vector<TraitsOfDirection> directions;
  std::uint64_t left_out = 0;
  std::size_t width = SIZE_MAX;
};

std::string traits_text(const TraitsContent& content);
nlohmann::ordered_json traits_json(const TraitsContent& content);

}  // namespace sojourn::present
