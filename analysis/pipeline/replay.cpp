#include "analysis/pipeline/replay.h"

#include <utility>

namespace sojourn::pipeline {

namespace {

// The position up to which one rebuilder's log was replayed.
struct Reading {
  CallLog* log = nullptr;
  std::size_t section = 0;
  std::size_t call = 0;

  bool ended() const { return section == log->sections().size(); }
  const CallLog::Section& next() const { return log->sections()[section]; }
};

bool comes_before(const journeys::Turn& left, const journeys::Turn& right, Replay::Order order) {
  return order == Replay::Order::kOfPosition ? left.position < right.position : left < right;
}

}  // namespace

Replay::Replay(journeys::Observer& observer, std::uint64_t late_ns, std::size_t rebuilders,
               Order order)
    : observer_(observer), places_(observer, late_ns), order_(order), numbers_(rebuilders) {
  if (order_ == Order::kOfPosition) places_.begin_wait();
}

// Calls of the same turn are replayed in the order of their rebuilders.
void Replay::replay(std::span<CallLog* const> of_each) {
  std::vector<Reading> readings;
  readings.reserve(of_each.size());
  for (CallLog* const log : of_each) readings.push_back({.log = log});
  for (;;) {
    std::size_t who = readings.size();
    for (std::size_t each = 0; each < readings.size(); ++each)
      if (!readings[each].ended() &&
          (who == readings.size() ||
           comes_before(readings[each].next().turn, readings[who].next().turn, order_)))
        who = each;
    if (who == readings.size()) return;
    Reading& reading = readings[who];
    for (; reading.call < reading.next().end; ++reading.call)
      tell(*reading.log, reading.log->calls()[reading.call], numbers_[who]);
    ++reading.section;
  }
}

void Replay::end() {
  if (order_ == Order::kOfPosition) places_.end_wait();
}

void Replay::tell(CallLog& log, const Call& call, Numbers& numbers) {
  switch (call.kind) {
    case Call::Kind::kBegin:
      numbers.given.push_back(++last_number_);
      return;
    case Call::Kind::kJourney:
      tell_journey(log.journey(call), numbers);
      return;
    case Call::Kind::kStay:
      observer_.on_stay(log.stay(call));
      return;
    case Call::Kind::kWait:
      places_.begin_wait();
      return;
    case Call::Kind::kWaitEnd:
      places_.end_wait();
      return;
    case Call::Kind::kEnter:
    case Call::Kind::kLeave:
    case Call::Kind::kGiveUp:
      change(call);
      return;
  }
}

// Journeys are numbered by their beginning, among the journeys of all rebuilders.
void Replay::tell_journey(const journeys::Journey& journey, Numbers& numbers) {
  journeys::Journey told = journey;
  told.id = std::exchange(numbers.given[journey.id - numbers.first], 0);
  while (!numbers.given.empty() && numbers.given.front() == 0) {
    numbers.given.pop_front();
    ++numbers.first;
  }
  observer_.on_journey(told);
}

void Replay::change(const Call& call) {
  if (call.kind == Call::Kind::kEnter)
    places_.enter(call.place, call.ts_ns);
  else
    places_.leave(call.place, call.entered_ns, call.ts_ns, call.kind == Call::Kind::kLeave);
}

}  // namespace sojourn::pipeline
