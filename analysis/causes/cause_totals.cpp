#include "analysis/causes/cause_totals.h"

#include <algorithm>
#include <tuple>

namespace sojourn::causes {

Cause cause_of(const LatencyPart& part, const ContextNameTable& names) {
  Cause cause = {.kind = part.kind, .place = part.place, .thread = {}, .by = {}, .in = {}};
  switch (part.kind) {
    case CauseKind::kCpu:
      cause.thread = names.thread(part.tid);
      cause.by = names.other(part.by, part.tid);
      cause.cpu = part.cpu;
      break;
    case CauseKind::kBlocked:
      cause.thread = names.thread(part.tid);
      if (part.by != 0) cause.by = names.other(part.by, part.tid);
      cause.in = names.syscall(part.number);
      break;
    case CauseKind::kInterrupted:
      cause.thread = names.thread(part.tid);
      cause.in = names.interrupt(part.number, part.is_softirq);
      break;
    case CauseKind::kRetransmission:
      cause.round = part.number;
      break;
    case CauseKind::kQueue:
    case CauseKind::kSlot:
    case CauseKind::kReassembly:
      break;
    case CauseKind::kWork:
    case CauseKind::kHandover:
    case CauseKind::kBatching:
    case CauseKind::kReordering:
    case CauseKind::kUnknown:
      cause.thread = part.tid == 0 ? std::string() : names.thread(part.tid);
      break;
  }
  return cause;
}

void CauseTotals::add(const Verdict& verdict, const ContextNameTable& names) {
  ++packets_;
  ns_ += verdict.latency_ns();
  for (std::size_t index = 0; index < verdict.parts.size(); ++index) {
    const LatencyPart& part = verdict.parts[index];
    Cause cause = cause_of(part, names);
    auto known = rows_.find(cause);
    if (known == rows_.end()) {
      if (rows_.size() == kMaxCauses) continue;
      known = rows_.emplace(cause, Row{.cause = cause}).first;
    }
    Row& row = known->second;
    row.ns += part.ns;
    if (index != 0) continue;
    ++row.packets;
    row.counted += part.count;
  }
}

std::vector<CauseTotals::Row> CauseTotals::rows() const {
  std::vector<Row> rows;
  rows.reserve(rows_.size());
  for (const auto& [cause, row] : rows_) rows.push_back(row);
  std::ranges::stable_sort(rows, [](const Row& left, const Row& right) {
    return std::tuple(left.packets, left.ns) > std::tuple(right.packets, right.ns);
  });
  return rows;
}

}  // namespace sojourn::causes
