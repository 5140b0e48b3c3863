// Work that the target timed itself, as `sojourn report` says it: a table, and an object's member.
// Both are of a content with spans.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

std::string spans_text(const ReportContent& content);
nlohmann::ordered_json spans_json(const ReportContent& content);

}  // namespace sojourn::present
