// The JSON of `list --json`. No state.
#pragma once

#include <nlohmann/json.hpp>

#include "userspace/cli/live/list/listed.h"

namespace sojourn::cli {

// Adds the members "points", "queues" and "unusable", and "foreign" if `with_foreign`.
void add_listed(const Listed& listed, bool with_foreign, nlohmann::ordered_json& document);

}  // namespace sojourn::cli
