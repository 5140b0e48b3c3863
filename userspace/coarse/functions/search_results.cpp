#include "userspace/coarse/functions/search_results.h"

#include <algorithm>
#include <cstddef>

// A C struct, at global scope.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sj_step, add, bytes, low_bit, bits, is_signed)

namespace sojourn::symbols {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CodeRange, address, bytes)
}  // namespace sojourn::symbols

namespace sojourn::coarse {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueStart, base, steps, bytes, is_signed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FoundVariable, start, why_not)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FoundFunction, code, linked, shown, is_changed_clone, folded,
                                   pieces, copies, symbol, variables)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SearchResult, functions, ambiguous, near, within, inlined,
                                   inlined_into)

namespace {

bool is_sound(const sj_step& step) {
  const bool has_width =
      step.bytes == 0 || step.bytes == 1 || step.bytes == 2 || step.bytes == 4 || step.bytes == 8;
  return has_width && step.bits >= 1 && step.bits <= 64 && step.low_bit <= 64 - step.bits &&
         step.is_signed <= 1;
}

bool is_sound(const SearchResult& result, const Query& query) {
  return std::ranges::all_of(result.functions, [&](const FoundFunction& function) {
    return function.variables.size() == query.variables.size() &&
           std::ranges::all_of(function.variables, [](const FoundVariable& variable) {
             const ValueStart& start = variable.start;
             return start.base <= kStackPointer && start.steps.size() <= SJ_MAX_STEPS &&
                    (start.bytes == 1 || start.bytes == 2 || start.bytes == 4 ||
                     start.bytes == 8) &&
                    (start.base != kStackPointer || start.steps.empty() ||
                     start.steps.front().bytes != 0) &&
                    std::ranges::all_of(start.steps,
                                        [](const sj_step& step) { return is_sound(step); });
           });
  });
}

}  // namespace

nlohmann::json results_to_json(const std::vector<SearchResult>& results) {
  return results;
}

std::optional<std::vector<SearchResult>> results_from_json(const nlohmann::json& all,
                                                           std::span<const Query> queries) {
  try {
    auto results = all.get<std::vector<SearchResult>>();
    if (results.size() != queries.size()) return std::nullopt;
    for (std::size_t at = 0; at < results.size(); ++at)
      if (!is_sound(results[at], queries[at])) return std::nullopt;
    return results;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace sojourn::coarse
