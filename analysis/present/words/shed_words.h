// That points were off, for the budget or by a switch, in the same words wherever figures over the
// whole time of a capture are printed: rates, gaps and depths are wrong by that. No state.
#pragma once

#include <string>

#include "analysis/model/capture_info.h"
#include "analysis/model/schema.h"

namespace sojourn::present {

// One line; empty if no point was off.
std::string shed_notice(const model::Schema& schema, const model::Capture& capture);

}  // namespace sojourn::present
