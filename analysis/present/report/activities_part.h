// A script's activities and markers in `sojourn report`: tables, and members of its object.
// Requires a content that has some.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

std::string activities_text(const ReportContent& content);
nlohmann::ordered_json activities_json(const ReportContent& content);
nlohmann::ordered_json markers_json(const ReportContent& content);

// "only the 12 of 100 events that one-ue.lua keeps"; empty where all are kept.
std::string script_text(const ReportScript& script);
nlohmann::ordered_json script_json(const ReportScript& script);

}  // namespace sojourn::present
