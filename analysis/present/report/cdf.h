// Points of cumulative distributions (`sojourn report --cdf`): of each direction's latencies and
// each hop's stays, or of each group where things are told apart, how many samples are at most so
// long and how many are longer. Points are dense where quantiles of a tail are: up to the last
// sample.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"
#include "analysis/report/groups.h"

namespace sojourn::present {

// `groups`: none, or what --by tells apart.
std::string cdf_text(const ReportContent& content, const report::Groups* groups);
std::string cdf_csv(const ReportContent& content, const report::Groups* groups);
nlohmann::ordered_json cdf_json(const ReportContent& content, const report::Groups* groups);

}  // namespace sojourn::present
