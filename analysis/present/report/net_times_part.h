// Which times a report shows: without what tracing took, where the trace tells that
// (report/tracing_cost.h), or as they were measured. And what it says about the difference. No
// state.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"

namespace sojourn::present {

bool shows_net_times(const ReportContent& content);

// As they are to be shown.
const statistics::Distribution& latency_of(const ReportContent& content,
                                           model::Direction direction);
const statistics::Distribution& stay_of(const ReportContent& content, std::size_t pair);
double critical_path_ns_of(const ReportContent& content, std::size_t place);

// How much of the measured times was tracing: of the mean, or of the median where that is more.
double tracing_share(const statistics::Distribution& measured, const statistics::Distribution& net);

// From so much of a row on it is shown in the tables.
constexpr double kMuchTracing = 0.1;

// A line that says what the times of the report are; empty where nothing is to be said.
std::string net_times_text(const ReportContent& content);

// What is added to a row that has the measured times.
void add_net_times(const ReportContent& content, const statistics::Distribution& measured,
                   const statistics::Distribution& net, nlohmann::ordered_json& row);

}  // namespace sojourn::present
