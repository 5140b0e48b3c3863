#include "analysis/trace/sequence.h"

#include <iterator>

namespace sojourn::trace {

void SequenceCheck::add(const model::EventBatch& events) {
  const auto seq = events.seq();
  const auto ts_ns = events.ts_ns();
  for (std::size_t row = 0; row < seq.size(); ++row) {
    add_one(seq[row], ts_ns[row]);
    const auto after = spans_.upper_bound(seq[row]);
    auto& span = std::prev(after)->second;
    if (span.last != seq[row]) continue;
    // Nearly always the span grows at its end; the last number before another span joins the two.
    const std::uint64_t end = after == spans_.end() ? UINT64_MAX : after->first - 1;
    while (row + 1 < seq.size() && seq[row + 1] != 0 && seq[row + 1] - 1 == span.last &&
           seq[row + 1] < end) {
      span.last = seq[++row];
      span.last_ts_ns = ts_ns[row];
    }
  }
}

void SequenceCheck::add_one(std::uint64_t seq, std::uint64_t ts_ns) {
  const auto after = spans_.upper_bound(seq);
  const auto before = after == spans_.begin() ? spans_.end() : std::prev(after);
  if (before != spans_.end() && seq <= before->second.last) return;

  const bool joins_before = before != spans_.end() && before->second.last == seq - 1;
  const bool joins_after = after != spans_.end() && after->first - 1 == seq;
  if (joins_before && joins_after) {
    before->second.last = after->second.last;
    before->second.last_ts_ns = after->second.last_ts_ns;
    spans_.erase(after);
  } else if (joins_before) {
    before->second.last = seq;
    before->second.last_ts_ns = ts_ns;
  } else if (joins_after) {
    Span grown = after->second;
    grown.first_ts_ns = ts_ns;
    spans_.erase(after);
    spans_.emplace(seq, grown);
  } else {
    spans_.emplace(seq, Span{.last = seq, .first_ts_ns = ts_ns, .last_ts_ns = ts_ns});
  }
}

void SequenceCheck::append_gaps(std::uint32_t stream, std::uint64_t first_wanted,
                                std::vector<Gap>& gaps) const {
  std::uint64_t expected = first_wanted;
  std::uint64_t after_ns = 0;
  for (const auto& [first, span] : spans_) {
    if (first > expected)
      gaps.push_back({.stream = stream,
                      .first_seq = expected,
                      .count = first - expected,
                      .after_ns = after_ns,
                      .before_ns = span.first_ts_ns});
    expected = span.last + 1;
    after_ns = span.last_ts_ns;
  }
}

}  // namespace sojourn::trace
