// A machine's profile for people: its description, the study's tables, curves as plots. The words
// of one line each for reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/host/host_profile.h"

namespace sojourn::present {

std::string host_text(const host::HostProfile& profile, std::size_t width = SIZE_MAX);

// A measurement in its unit: "8.1 ns", "12.3 GB/s".
std::string quantity(double value, host::Unit unit);

// y over x, both axes in doublings, with the knees marked.
std::string curve_plot(const host::Curve& curve, std::size_t width = 72);

// Rows for Markdown, "| name | value |": the facts about the machine that matter for latencies.
std::string host_markdown_rows(const host::HostProfile& profile);

}  // namespace sojourn::present
