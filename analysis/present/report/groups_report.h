// The output of `sojourn report --by`: two tables for people (times, and the regularity of
// arrivals), an object for programs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"
#include "analysis/report/groups.h"

namespace sojourn::present {

std::string groups_text(const ReportContent& content, const report::Groups& groups);
nlohmann::ordered_json groups_json(const ReportContent& content, const report::Groups& groups);

}  // namespace sojourn::present
