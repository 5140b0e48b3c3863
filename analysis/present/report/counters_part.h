// Counters in `sojourn report`: how much of each the work in each place took, in all and for each
// packet, as a table and as an object's member.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

// Empty if the trace has no counters.
std::string counters_text(const ReportContent& content);
nlohmann::ordered_json counters_json(const ReportContent& content);

}  // namespace sojourn::present
