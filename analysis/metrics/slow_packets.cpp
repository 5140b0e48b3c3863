#include "analysis/metrics/slow_packets.h"

#include <algorithm>
#include <functional>

namespace sojourn::metrics {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// A packet is explained soon after its end; one that took longer than this span is not.
constexpr causes::Timeline::Limits kKept = {.span_ns = 5'000'000'000, .entries = 1'000'000};

}  // namespace

SlowPackets::SlowPackets(const causes::TraceMetadata& source, const journeys::Topology& topology,
                         const journeys::Rules& rules, JourneyMetrics& figures)
    : topology_(topology),
      figures_(figures),
      rules_(rules),
      names_(source.context),
      slowest_(kOfEachSecond),
      explainer_(
          source, topology, rules_, names_, {}, causes::Explainer::Wanted(),
          [this](const causes::Verdict& verdict) { keep(verdict); }, kKept) {}

void SlowPackets::on_journey(const journeys::Journey& journey) {
  explainer_.on_journey(journey);
  if (!journey.has_latency()) return;
  begin(journey.end_ns / kSecondNs);
  slowest_.note(journey.direction, journey.latency_ns());
  explainer_.set_deadlines(slowest_.limits());
}

// A packet is explained after the batch of events that it ends in, so a second is counted once the
// next but one has begun.
void SlowPackets::begin(std::uint64_t second) {
  if (second <= second_) return;
  second_ = second;
  slowest_.clear();
  while (!seconds_.empty() && seconds_.begin()->first + 2 <= second) {
    const auto& [down, up] = seconds_.begin()->second;
    for (const Slow& one : down)
      figures_.note_slow(model::Direction::kDownlink, causes::name(one.kind),
                         topology_.places[one.place].name, one.latency_ns);
    for (const Slow& one : up)
      figures_.note_slow(model::Direction::kUplink, causes::name(one.kind),
                         topology_.places[one.place].name, one.latency_ns);
    seconds_.erase(seconds_.begin());
  }
}

void SlowPackets::keep(const causes::Verdict& verdict) {
  const std::uint64_t second = verdict.end_ns / kSecondNs;
  if (verdict.parts.empty() || second + 2 <= second_) return;
  auto& [down, up] = seconds_[second];
  std::vector<Slow>& slow = verdict.direction == model::Direction::kUplink ? up : down;
  const Slow one = {.latency_ns = verdict.latency_ns(),
                    .kind = verdict.parts.front().kind,
                    .place = verdict.parts.front().place};
  slow.insert(std::ranges::upper_bound(slow, one.latency_ns, std::greater<>(), &Slow::latency_ns),
              one);
  if (slow.size() > kOfEachSecond) slow.pop_back();
}

void SlowPackets::consume(const model::EventBatch& events) {
  explainer_.consume(events);
}

}  // namespace sojourn::metrics
