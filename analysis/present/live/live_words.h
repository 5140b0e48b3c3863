// Words of `sojourn live` that its text and its screen have in common. No state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/live/live_snapshot.h"

namespace sojourn::present {

// "12.0 s"
std::string elapsed_words(const live::Snapshot& snapshot);

// "0 lost", "12 lost (ring full 12)"
std::string loss_words(const live::Snapshot& snapshot);

// The limits of the figures, with reasons; a line each.
std::vector<std::string> doubts(const live::Snapshot& snapshot);

// "only 3 of 20 UEs (13 % of events)"; empty where all packets are rebuilt.
std::string sample_words(const live::Snapshot& snapshot);

// "tracing takes 0.51 % of the target's CPU", "capture 4.1 % of a core"; empty if neither is known.
std::vector<std::string> cost_words(const live::Snapshot& snapshot);

// "last 10 s", "since the start, 83 s", "of what was chosen 12 s ago"
std::string span_words(const live::Snapshot& snapshot, bool since_start);

// "rnti 0x4601 drb 1"
std::string packet_words(const live::Snapshot& snapshot, const causes::Verdict& verdict);

}  // namespace sojourn::present
