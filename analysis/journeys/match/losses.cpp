#include "analysis/journeys/match/losses.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace sojourn::journeys {
namespace {

constexpr std::uint32_t kDirect = 4096;

}  // namespace

Losses::Losses(std::uint64_t open_ns, std::vector<LossSpan> known,
               std::span<const std::uint64_t> first)
    : open_ns_(open_ns), known_(std::move(known)) {
  for (const auto& span : known_) last_ns_ = std::max(last_ns_, span.end_ns);
  for (std::size_t id = 0; id < first.size(); ++id)
    stream(static_cast<std::uint32_t>(id)).next_seq = first[id];
}

// Sequence numbers were skipped, or a skipped one comes after all.
std::int64_t Losses::note_unexpected(const model::EventView& event) {
  auto& of = stream(event.stream);
  if (event.seq < of.next_seq) return of.missing == 0 ? 0 : (--of.missing, -1);
  const auto skipped = event.seq - of.next_seq;
  if (skipped != 0)
    add({.begin_ns = of.last_ns == 0 ? open_ns_ : of.last_ns, .end_ns = event.ts_ns});
  of = {event.seq + 1, event.ts_ns, of.missing + skipped};
  return static_cast<std::int64_t>(skipped);
}

bool Losses::was_between(std::uint64_t from_ns, std::uint64_t to_ns,
                         model::Direction direction) const {
  // Spans are in the order of their ends, and only the last ones matter to units in flight.
  for (const auto& span : std::views::reverse(spans_)) {
    if (span.end_ns < from_ns) break;
    if (span.begin_ns <= to_ns) return true;
  }
  return std::ranges::any_of(known_, [&](const LossSpan& span) {
    return span.direction.value_or(direction) == direction && span.begin_ns <= to_ns &&
           span.end_ns >= from_ns;
  });
}

Losses::Stream& Losses::stream(std::uint32_t id) {
  if (id >= kDirect) return others_[id];
  if (id >= direct_.size()) direct_.resize(id + 1);
  return direct_[id];
}

void Losses::add(LossSpan span) {
  spans_.push_back(span);
  last_ns_ = std::max(last_ns_, span.end_ns);
}

}  // namespace sojourn::journeys
