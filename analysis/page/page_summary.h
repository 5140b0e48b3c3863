// Summaries of traces that are too large for a page: the answers to all calls of the page about all
// packets, and the events around the slowest ones. A PageEngine computes them, so a page with a
// summary has the figures of a page with the whole trace. A function without state.
//
// The summary is a JSON object: "traces" has for each trace the answers to these calls
// (page_engine.h): "about", "screen" (summarised), "queues", "events", "machine", "names",
// "profile", "groups" by name; and "packets": whole, the slowest first, each with "window": where
// its events are in the trace of windows, in ns since the origin, or null. With two traces
// "compare" has the answer to that call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/page/page_engine.h"

namespace sojourn::page {

struct PageSummary {
  std::string text;                                // a JSON object
  std::vector<std::vector<std::uint8_t>> windows;  // a trace for each; empty: there was no room
};

// Receives how much of the work is done, from 0 to 1.
using SummaryProgress = std::function<void(double done)>;

// Summarises one trace, or two to compare. The windows of each take at most `most_window_bytes`: if
// there is no room for all packets, fewer have one.
Result<PageSummary> summary_of(PageEngine& engine, std::size_t traces,
                               std::uint64_t most_window_bytes, const SummaryProgress& progress);

}  // namespace sojourn::page
