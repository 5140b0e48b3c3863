// Causes in words: a label for a table's row, a clause for a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/causes/cause_totals.h"
#include "analysis/causes/context_name_table.h"
#include "analysis/causes/verdict.h"
#include "analysis/journeys/topology.h"

namespace sojourn::present {

// The part's share of the whole; 0 if the whole is 0.
double ratio(std::uint64_t part, std::uint64_t whole);

std::string place_label(std::uint16_t place, const journeys::Topology& topology);  // "D pdcp.in"

// "queue D rlc.tx.am", "work in D pdcp.in (dl-pdcp)"
std::string label(const causes::Cause& cause, const journeys::Topology& topology);

// "41 ahead" or "3 slots"; empty if the cause has no count. `count` is a mean.
std::string count_label(causes::CauseKind kind, double count);

// "37.7 ms behind 41 others in rlc.tx.um"
std::string clause(const causes::LatencyPart& part, const causes::ContextNameTable& names,
                   const journeys::Topology& topology);

}  // namespace sojourn::present
