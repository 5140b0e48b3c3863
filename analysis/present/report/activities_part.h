// What a script made of the events, as `sojourn report` says it: tables, and members of its object.
// Of a content with activities or markers.
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
