// One instant of `sojourn live` as an object. Keys are stable; docs/live.md lists them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/live/live_snapshot.h"

namespace sojourn::present {

nlohmann::ordered_json live_json(const live::Snapshot& snapshot);
// One line, always valid UTF-8.
std::string json_line(const nlohmann::ordered_json& object);

}  // namespace sojourn::present
