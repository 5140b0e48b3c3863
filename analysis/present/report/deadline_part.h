// Shows which packets, and which of their stays, took longer than the deadline (`sojourn report
// --deadline`).
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::present {

// Both need a deadline in the content.
std::string deadline_text(const ReportContent& content);
nlohmann::ordered_json deadline_json(const ReportContent& content);

// "D pdcp.tx -> rlc.tx.am -> rlc.seg.am", of a pair of the topology.
std::string hop_name(const ReportContent& content, std::size_t index);

// The number of times that were longer than the deadline.
nlohmann::ordered_json misses_json(const statistics::Distribution& times,
                                   std::uint64_t deadline_ns);

}  // namespace sojourn::present
