// Causes in words: a label for a table's row, a clause for a sentence.
#pragma once

#include <string>
#include <string_view>

#include "analysis/causes/names.h"
#include "analysis/causes/tally.h"
#include "analysis/causes/verdict.h"
#include "analysis/journeys/topology.h"

namespace sojourn::report {

std::string place_words(std::uint16_t place, const journeys::Topology& topology);  // "D pdcp.in"

// "queue D rlc.tx.am", "work in D pdcp.in (dl-pdcp)"
std::string label(const causes::Cause& cause, const journeys::Topology& topology);

// "41 ahead", "3 slots"; empty where nothing is counted. `count` is a mean.
std::string counted_words(causes::Kind kind, double count);

// "37.7 ms behind 41 others in rlc.tx.um"
std::string clause(const causes::Part& part, const causes::Names& names,
                   const journeys::Topology& topology);

}  // namespace sojourn::report
