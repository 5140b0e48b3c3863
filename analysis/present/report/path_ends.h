// The name of a direction's path in a report, from its inputs and outputs; and a remark if points
// of a map are missing in the program, so that the path is in parts. No state.
#pragma once

#include <string>

#include "analysis/model/schema.h"
#include "analysis/present/report/report_content.h"

namespace sojourn::present {

// "ip.in -> phy.out.ant", from the points that were hit, without points that are both ends. If a
// point is missing there, the end is left out: "from phy.rx".
std::string path_ends(const ReportContent& content, model::Direction direction);

// Lines that name the points that are not placed; empty where none is missing.
std::string unplaced_text(const ReportContent& content);

}  // namespace sojourn::present
