// The output of `sojourn diff`: a text for people and an object for programs. Effect sizes come
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/differential/cause_change.h"
#include "analysis/differential/difference.h"

namespace sojourn::present {

// Why packets were late, where that was asked for.
struct LatenessContent {
  std::uint64_t down_ns = UINT64_MAX;  // packets that took longer are late; UINT64_MAX: none
  std::uint64_t up_ns = UINT64_MAX;
  std::vector<differential::CauseChange> changes = {};
};

struct DifferenceContent {
  std::span<const differential::RunFigures> base;
  std::span<const differential::RunFigures> now;
  const differential::Difference& found;
  const LatenessContent* lateness = nullptr;  // null: not asked for
  double level = 0.05;
  std::size_t width = SIZE_MAX;
};

std::string difference_text(const DifferenceContent& content);
nlohmann::ordered_json difference_json(const DifferenceContent& content);

}  // namespace sojourn::present
