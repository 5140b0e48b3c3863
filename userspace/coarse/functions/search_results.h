// Results of queries as JSON, on their way from the child that searches, and in the cache between
// runs. Results that are read are checked in both cases. No state.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "userspace/coarse/functions/function_search.h"

namespace sojourn::coarse {

nlohmann::json results_to_json(const std::vector<SearchResult>& results);
// Nothing if they are invalid or no results of these queries.
std::optional<std::vector<SearchResult>> results_from_json(const nlohmann::json& all,
                                                           std::span<const Query> queries);

}  // namespace sojourn::coarse
