// A machine's profile as JSON, and back: `sojourn host --json` prints it, `host diff` reads it, and
// a trace contains it.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "analysis/base/result.h"
#include "analysis/host/host_profile.h"

namespace sojourn::host {

nlohmann::ordered_json to_json(const HostProfile& profile);
std::string to_json_text(const HostProfile& profile);

// Unknown members are skipped; known ones must have the right kind.
Result<HostProfile> from_json(std::string_view text);

}  // namespace sojourn::host
