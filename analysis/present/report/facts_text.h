// The lines of a report about the recording itself, not its journeys: the target, and missing data.
// Each is empty if there is nothing to report.
#pragma once

#include <string>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

// Facts for which the head has no room.
std::string processes_text(const Facts& facts);
// How far times of a merged trace may be off.
std::string hosts_text(const Facts& facts);
std::string ledger_text(const Facts& facts);
std::string shed_text(const Facts& facts);
// Points of processes and libraries that came while it ran.
std::string unarmed_text(const Facts& facts);

}  // namespace sojourn::present
