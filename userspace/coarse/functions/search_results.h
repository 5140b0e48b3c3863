// What became of queries, as JSON: between the child that searches and who asked, and in what is
// kept between runs. What comes back is checked, wherever it was. No state.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "userspace/coarse/functions/function_search.h"

namespace sojourn::coarse {

nlohmann::json results_to_json(const std::vector<SearchResult>& results);
// None where they are not results of these queries, or what no search would say.
std::optional<std::vector<SearchResult>> results_from_json(const nlohmann::json& all,
                                                           std::span<const Query> queries);

}  // namespace sojourn::coarse
