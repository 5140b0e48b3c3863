// Rules as a text that people edit (docs/journeys.md has the language): read, and written as they
// apply to a schema, in a form that reads back as the same. What is wrong with a text is told as
// `FILE:LINE:COLUMN: ...`.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// `file` is what errors call the text.
Result<Rules> parse_rules(std::string_view text, std::string_view file);

// Everything that goes without saying is said: words, times, each point's kind, each pair.
std::string rules_text(const Topology& topology, const model::Schema& schema, const Rules& rules);

}  // namespace sojourn::journeys
