// What the report says of the recording itself, not of the journeys in it: whose it is, and what it
// does not have. Each is empty where there is nothing to say.
#pragma once

#include <string>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

// What the head has no room for.
std::string processes_text(const Facts& facts);
std::string ledger_text(const Facts& facts);
std::string shed_text(const Facts& facts);
// Points of processes and libraries that came while it ran.
std::string unarmed_text(const Facts& facts);

}  // namespace sojourn::present
