// The time that tracing took from the target, for `sojourn report --costs`: a table, and an
// object's member.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

std::string costs_text(const ReportContent& content);
nlohmann::ordered_json costs_json(const ReportContent& content);

}  // namespace sojourn::present
