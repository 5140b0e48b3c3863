// What `sojourn history` says of a single trace: from when on within it something changed.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/differential/changes_within.h"

namespace sojourn::cli {

std::string history_within_text(const differential::RunFigures& run,
                                const differential::ChangesWithin& found);
nlohmann::ordered_json history_within_json(const differential::RunFigures& run,
                                           const differential::ChangesWithin& found);

}  // namespace sojourn::cli
