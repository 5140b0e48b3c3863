// What the JSON of all commands has in common. No state.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/statistics/distribution.h"

namespace sojourn::present {

// As a text, which is UTF-8 whatever the target's texts were.
std::string json_text(const nlohmann::ordered_json& object);
// A distribution in microseconds, each quantile with its bounds.
nlohmann::ordered_json times_json(const statistics::Distribution& times);

}  // namespace sojourn::present
