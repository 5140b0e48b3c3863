#include "analysis/causes/tally.h"

#include <algorithm>
#include <tuple>

namespace sojourn::causes {

Cause cause_of(const Part& part, const Names& names) {
  Cause cause = {.kind = part.kind, .place = part.place, .thread = {}, .by = {}, .in = {}};
  switch (part.kind) {
    case Kind::kCpu:
      cause.thread = names.thread(part.tid);
      cause.by = names.other(part.by, part.tid);
      cause.cpu = part.cpu;
      break;
    case Kind::kBlocked:
      cause.thread = names.thread(part.tid);
      if (part.by != 0) cause.by = names.other(part.by, part.tid);
      cause.in = names.syscall(part.number);
      break;
    case Kind::kInterrupted:
      cause.thread = names.thread(part.tid);
      cause.in = names.interrupt(part.number, part.is_softirq);
      break;
    case Kind::kAgain:
      cause.round = part.number;
      break;
    case Kind::kQueue:
    case Kind::kSlot:
    case Kind::kPieces:
      break;
    case Kind::kWork:
    case Kind::kHandover:
    case Kind::kHeld:
    case Kind::kOrder:
    case Kind::kUnknown:
      cause.thread = part.tid == 0 ? std::string() : names.thread(part.tid);
      break;
  }
  return cause;
}

void Tally::add(const Verdict& verdict, const Names& names) {
  ++packets_;
  ns_ += verdict.latency_ns();
  for (std::size_t index = 0; index < verdict.parts.size(); ++index) {
    const Part& part = verdict.parts[index];
    Cause cause = cause_of(part, names);
    auto known = rows_.find(cause);
    if (known == rows_.end()) {
      if (rows_.size() == kMost) continue;
      known = rows_.emplace(cause, Row{.cause = cause}).first;
    }
    Row& row = known->second;
    row.ns += part.ns;
    if (index != 0) continue;
    ++row.packets;
    row.counted += part.count;
  }
}

std::vector<Tally::Row> Tally::rows() const {
  std::vector<Row> rows;
  rows.reserve(rows_.size());
  for (const auto& [cause, row] : rows_) rows.push_back(row);
  std::ranges::stable_sort(rows, [](const Row& left, const Row& right) {
    return std::tuple(left.packets, left.ns) > std::tuple(right.packets, right.ns);
  });
  return rows;
}

}  // namespace sojourn::causes
