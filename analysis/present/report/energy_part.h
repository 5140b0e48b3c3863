// Energy in `sojourn report`, with a packet's share if the report covers all packets.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

// Empty if energy was not recorded; then the object says so.
std::string report_energy_text(const ReportContent& content);
nlohmann::ordered_json report_energy_json(const ReportContent& content);

}  // namespace sojourn::present
