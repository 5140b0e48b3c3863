#include "analysis/trace/parts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sojourn::trace {

namespace {

using Place = std::tuple<std::uint32_t, model::PointId, model::LossCause>;
using Counts = std::map<Place, std::uint64_t>;

Counts counts_of(const model::Ledger& ledger) {
  Counts counts;
  for (const model::LedgerEntry& entry : ledger)
    counts[{entry.stream, entry.point, entry.cause}] += entry.count;
  return counts;
}

model::Ledger ledger_of(const Counts& counts) {
  model::Ledger ledger;
  for (const auto& [place, count] : counts)
    if (count != 0)
      ledger.push_back({.stream = std::get<0>(place),
                        .point = std::get<1>(place),
                        .cause = std::get<2>(place),
                        .count = count});
  return ledger;
}

std::uint64_t less(std::uint64_t from, std::uint64_t what) {
  return from - std::min(from, what);
}

std::uint64_t at(const std::vector<std::uint64_t>& by_stream, std::size_t stream) {
  return stream < by_stream.size() ? by_stream[stream] : 0;
}

}  // namespace

bool Parts::begin(model::Origin origin) {
  if (origin_ && origin_->capture != origin.capture) return false;
  if (origin_) settle(origin);
  if (++parts_ == 1) stream_first_ = origin.stream_first;
  origin_ = std::move(origin);
  events_.clear();
  newest_ledger_.clear();
  return true;
}

void Parts::count_events(std::uint32_t stream, std::uint64_t events) {
  if (origin_) events_[stream] += events;
}

// The hits of a stream between the beginnings of two parts are in the part, or the capture lost
// them, or the reader did: as it was behind, or as its connection broke.
void Parts::settle(const model::Origin& next) {
  Counts lost = counts_of(next.lost);
  for (const auto& [place, count] : counts_of(origin_->lost))
    lost[place] = less(lost[place], count);
  std::map<std::uint32_t, std::uint64_t> numbered;
  for (const auto& [place, count] : lost)
    if (model::takes_sequence_number(std::get<2>(place))) numbered[std::get<0>(place)] += count;
  const Counts newest = counts_of(newest_ledger_);
  for (std::size_t stream = 0; stream < next.stream_first.size(); ++stream) {
    const auto id = static_cast<std::uint32_t>(stream);
    const std::uint64_t passed = less(next.stream_first[stream], at(origin_->stream_first, stream));
    std::uint64_t missed = less(less(passed, events_[id]), numbered[id]);
    const Place behind = {id, model::kNoPoint, model::LossCause::kWriterBehind};
    const auto was_behind = newest.find(behind);
    const std::uint64_t known =
        was_behind == newest.end() ? 0 : std::min(missed, less(was_behind->second, lost[behind]));
    lost[behind] += known;
    missed -= known;
    lost[{id, model::kNoPoint, model::LossCause::kConnectionCut}] += missed;
  }
  for (const auto& [place, count] : counts_of(losses_before_)) lost[place] += count;
  losses_before_ = ledger_of(lost);
}

void Parts::adjust(model::Capture& capture) {
  if (!has_several()) {
    open_ns_ = capture.open_ns;
    return;
  }
  if (open_ns_ != 0) capture.open_ns = open_ns_;
  capture.stream_first = stream_first_;
  capture.target_cpu_ns = 0;  // not known for the time between the parts
  capture.tracer_cpu_ns = 0;
}

void Parts::adjust(model::Ledger& ledger) {
  if (!origin_) return;
  newest_ledger_ = ledger;
  if (!has_several()) return;
  Counts sum = counts_of(losses_before_);
  for (const auto& [place, count] : counts_of(ledger)) sum[place] += count;
  ledger = ledger_of(sum);
}

}  // namespace sojourn::trace
