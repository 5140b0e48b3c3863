// Rules as a text that people edit; docs/journeys.md has the language. The rules that apply to a
// schema are written in a form that is read back as the same rules. Errors begin with
// `FILE:LINE:COLUMN: `.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// `file` is the name of the text in errors.
Result<Rules> parse_rules(std::string_view text, std::string_view file);

// Returns the complete rules, including those that are derived: words, times, the kind of each
// point, each pair.
std::string rules_text(const Topology& topology, const model::Schema& schema, const Rules& rules);

}  // namespace sojourn::journeys
