// A machine's profile as JSON, and back. What `sojourn host --json` prints, what `host diff`
// reads, what a trace carries.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "analysis/base/result.h"
#include "analysis/host/host_profile.h"

namespace sojourn::host {

nlohmann::ordered_json to_json(const HostProfile& profile);
std::string to_json_text(const HostProfile& profile);

// Members that are not known are skipped; what is there has to be of the right kind.
Result<HostProfile> from_json(std::string_view text);

}  // namespace sojourn::host
