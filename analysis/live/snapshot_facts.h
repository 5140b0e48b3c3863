// The facts about a trace's making for a Snapshot. No state.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/base/printable.h"
#include "analysis/causes/timeline.h"
#include "analysis/journeys/totals.h"
#include "analysis/live/live_snapshot.h"
#include "analysis/model/capture_info.h"
#include "analysis/report/costs.h"

namespace sojourn::live {

inline std::string target_text(const std::vector<model::Target>& targets) {
  const auto& first = targets.front();
  std::string text = first.name.empty() ? "unnamed target" : printable(first.name);
  if (first.pid != 0) text += fmt::format(", pid {}", first.pid);
  if (targets.size() > 1) text += fmt::format(" and {} more", targets.size() - 1);
  return text;
}

inline void add_facts(const causes::TraceMetadata& about, const model::Ledger& ledger,
                      const journeys::Totals& totals, Snapshot& snapshot) {
  snapshot.target = target_text(about.targets);
  snapshot.pid = about.targets.front().pid;
  snapshot.ended_by = about.capture.ended_by;
  for (const model::LedgerEntry& entry : ledger) {
    if (entry.cause == model::LossCause::kFiltered || entry.count == 0) continue;
    snapshot.lost += entry.count;
    const auto same = std::ranges::find(snapshot.losses, entry.cause, &LossRow::cause);
    if (same == snapshot.losses.end())
      snapshot.losses.push_back({.cause = entry.cause, .count = entry.count});
    else
      same->count += entry.count;
  }
  // A gap in the sequence numbers that no ledger counts is a loss as well.
  snapshot.lost = std::max(snapshot.lost, totals.lost);
  const report::Costs costs = report::costs_of(about.capture, ledger, totals);
  snapshot.cost_ns = costs.took_ns;
  snapshot.cost_share = costs.share;
}

}  // namespace sojourn::live
