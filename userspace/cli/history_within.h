// The output of `sojourn history` for a single trace: the instants at which a figure changed.
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
