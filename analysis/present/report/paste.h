// `sojourn report --paste`: Markdown for a bug report. It has what others need to judge the
// figures, the report, and the slowest packets, but not the host's name, directories or command
// lines.
#pragma once

#include <string>
#include <string_view>

#include "analysis/present/report/report_content.h"
#include "analysis/report/slowest_journeys.h"

namespace sojourn::present {

struct PasteInfo {
  std::string_view reader;  // "sojourn 0.1.0": what makes the report
  std::string_view rules;   // the rules of journeys, if not the defaults
};

std::string to_markdown(const ReportContent& content, report::SlowestJourneys& worst,
                        const PasteInfo& words);

}  // namespace sojourn::present
