// JSON that all commands have in common. No state.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/statistics/distribution.h"

namespace sojourn::present {

// The object as a text, always valid UTF-8.
std::string json_text(const nlohmann::ordered_json& object);
// A distribution in microseconds, each quantile with its bounds.
nlohmann::ordered_json times_json(const statistics::Distribution& times);

}  // namespace sojourn::present
