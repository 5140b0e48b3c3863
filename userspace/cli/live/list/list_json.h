// What `list --json` says. No state.
#pragma once

#include <nlohmann/json.hpp>

#include "userspace/cli/live/list/listed.h"

namespace sojourn::cli {

// Members "points", "queues" and "unusable" are added; "foreign" where `with_foreign`.
void add_listed(const Listed& listed, bool with_foreign, nlohmann::ordered_json& document);

}  // namespace sojourn::cli
