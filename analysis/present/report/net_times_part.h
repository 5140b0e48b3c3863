// Chooses the times that a report shows: without the time of tracing if the trace has it
// (report/tracing_cost.h), else as measured. It also describes the difference. No state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

bool shows_net_times(const ReportContent& content);

// The times that the report shows.
const statistics::Distribution& latency_of(const ReportContent& content,
                                           model::Direction direction);
const statistics::Distribution& stay_of(const ReportContent& content, std::size_t pair);
double critical_path_ns_of(const ReportContent& content, std::size_t place);

// The share of tracing in the measured times: of the mean, or of the median if that is more.
// Returns nothing if the median is no longer than the error of what is subtracted for one hit: the
// share would be noise. The share of several pairs is that of all their stays together.
std::optional<double> tracing_share(const ReportContent& content, model::Direction direction);
std::optional<double> tracing_share(const ReportContent& content,
                                    std::span<const std::size_t> pairs);

// Tables show a share of tracing from this one on.
constexpr double kMuchTracing = 0.1;

// A line that says whether the report's times include tracing; empty if that needs no words.
std::string net_times_text(const ReportContent& content);

// Adds the times without tracing to a row that has the measured ones. `share`: tracing_share().
void add_net_times(const ReportContent& content, const statistics::Distribution& net,
                   std::optional<double> share, nlohmann::ordered_json& row);

}  // namespace sojourn::present
