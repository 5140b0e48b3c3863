// What `sojourn report` says of energy: with a packet's share, where it is of all packets.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

// Empty where no energy was asked for; the object says so then.
std::string report_energy_text(const ReportContent& content);
nlohmann::ordered_json report_energy_json(const ReportContent& content);

}  // namespace sojourn::present
