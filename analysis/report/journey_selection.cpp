#include "analysis/report/journey_selection.h"

#include <algorithm>

namespace sojourn::report {

using journeys::Journey;
using journeys::Outcome;

void JourneySelection::on_journey(const Journey& journey) {
  last_id_ = std::max(last_id_, journey.id);
  if (is_full() || !is_wanted(journey)) return;
  if (wishes_.worst != 0 && !wishes_.incomplete && !journey.has_latency()) {
    ++at_one_point_;
    return;
  }
  if (!wishes_.ids.empty()) found_.insert(journey.id);
  if (wishes_.inside) {
    inside_.push_back({.at_ns = journey.start_ns, .id = journey.id});
    inside_.back().log.add(journey);
    inside_.back().meanwhile = around(journey);
  } else if (wishes_.worst != 0) {
    keep_slowest(journey);
  } else {
    pass(journey, around(journey));
  }
}

// A filter may look at steps itself. The journey's number here is not its final one.
bool JourneySelection::wants_steps_of(const Journey& journey) const {
  if (wishes_.keep || !wishes_.ids.empty()) return true;
  if (!is_wanted(journey)) return false;
  return wishes_.worst == 0 ||
         ((wishes_.incomplete || journey.has_latency()) && is_slow(journey.latency_ns()));
}

bool JourneySelection::is_slow(std::uint64_t latency_ns) const {
  const std::uint64_t least_ns = least_ns_.load(std::memory_order_relaxed);
  return least_ns == 0 || latency_ns > least_ns;
}

void JourneySelection::finish() {
  std::ranges::sort(inside_, {}, [](const Kept& one) { return std::pair(one.at_ns, one.id); });
  pass_all(inside_);
  std::ranges::sort(slowest_, is_slower);
  pass_all(slowest_);
}

bool JourneySelection::is_wanted(const Journey& journey) const {
  if (!wishes_.ids.empty()) return std::ranges::find(wishes_.ids, journey.id) != wishes_.ids.end();
  if (wishes_.keep && !wishes_.keep(journey)) return false;
  if (wishes_.direction && journey.direction != *wishes_.direction) return false;
  if (wishes_.inside) return journey.inside_until_ns != 0;
  if (wishes_.incomplete) return journey.outcome != Outcome::kComplete;
  return wishes_.worst == 0 || journey.outcome == Outcome::kComplete;
}

void JourneySelection::pass(Journey journey, const ActivityLog::Found& meanwhile) {
  meanwhile.put_into(journey);
  take_(journey);
  ++selected_;
}

// Reuses the memory of the journey that it replaces.
void JourneySelection::keep_slowest(const Journey& journey) {
  const std::uint64_t latency_ns = journey.latency_ns();
  Kept kept;
  if (slowest_.size() == wishes_.worst) {
    if (latency_ns <= slowest_.front().at_ns) return;
    std::ranges::pop_heap(slowest_, is_slower);
    kept = std::move(slowest_.back());
    slowest_.pop_back();
    kept.log.clear();
  }
  kept.at_ns = latency_ns;
  kept.id = journey.id;
  kept.log.add(journey);
  kept.meanwhile = around(journey);
  slowest_.push_back(std::move(kept));
  std::ranges::push_heap(slowest_, is_slower);
  if (slowest_.size() == wishes_.worst)
    least_ns_.store(slowest_.front().at_ns, std::memory_order_relaxed);
}

void JourneySelection::pass_all(std::vector<Kept>& kept) {
  for (Kept& one : kept) {
    if (is_full()) return;
    pass(one.log[0], one.meanwhile);
  }
}

}  // namespace sojourn::report
