// What `sojourn report --by` prints: two tables for people (times, and how evenly it comes), an
// object for programs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/report/groups.h"
#include "analysis/report/report.h"

namespace sojourn::report {

std::string groups_text(const ReportContent& content, const Groups& groups);
nlohmann::ordered_json groups_json(const ReportContent& content, const Groups& groups);

}  // namespace sojourn::report
