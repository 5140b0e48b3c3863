// What a report calls the path of a direction, by where its units enter and leave; and what it says
// where points of a map have no place in the program, so that the path is in parts. No state.
#pragma once

#include <string>

#include "analysis/model/schema.h"
#include "analysis/present/report/report_content.h"

namespace sojourn::present {

// "ip.in -> phy.out.ant", from the points that were hit, but for those that are both ends. An end
// that is only a cut where a point is missing is no end: "from phy.rx".
std::string path_ends(const ReportContent& content, model::Direction direction);

// Lines that name the points that are not placed; empty where none is missing.
std::string unplaced_text(const ReportContent& content);

}  // namespace sojourn::present
