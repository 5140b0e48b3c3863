#include "analysis/pipeline/call_log.h"

namespace sojourn::pipeline {

void CallLog::add(const journeys::Turn& turn, const Call& call) {
  calls_.push_back(call);
  if (sections_.empty() || sections_.back().turn != turn) sections_.push_back({.turn = turn});
  sections_.back().end = calls_.size();
}

void CallLog::add(const journeys::Turn& turn, const journeys::Journey& journey) {
  add(turn, {.index = static_cast<std::uint32_t>(journeys_.size()), .kind = Call::Kind::kJourney});
  journeys_.add(journey);
}

void CallLog::add(const journeys::Turn& turn, const journeys::Stay& stay) {
  add(turn, {.index = static_cast<std::uint32_t>(stays_.size()), .kind = Call::Kind::kStay});
  stays_.push_back({.entered_ns = stay.entered_ns,
                    .left_ns = stay.left_ns,
                    .pair = stay.pair,
                    .entered_by = stay.entered_by,
                    .left_by = stay.left_by,
                    .values = static_cast<std::uint32_t>(values_.size()),
                    .value_count = static_cast<std::uint16_t>(stay.values.size()),
                    .entered_value_count = static_cast<std::uint16_t>(stay.entered_values.size())});
  values_.insert(values_.end(), stay.values.begin(), stay.values.end());
  values_.insert(values_.end(), stay.entered_values.begin(), stay.entered_values.end());
}

journeys::Stay CallLog::stay(const Call& call) const {
  const KeptStay& kept = stays_[call.index];
  const auto values = std::span(values_).subspan(kept.values);
  return {.pair = kept.pair,
          .entered_ns = kept.entered_ns,
          .left_ns = kept.left_ns,
          .entered_by = kept.entered_by,
          .left_by = kept.left_by,
          .values = values.first(kept.value_count),
          .entered_values = values.subspan(kept.value_count, kept.entered_value_count)};
}

void CallLog::clear() {
  sections_.clear();
  calls_.clear();
  journeys_.clear();
  stays_.clear();
  values_.clear();
}

void CallRecorder::on_begin(std::uint64_t id) {
  log_.add(*turn_, {.ts_ns = id, .kind = Call::Kind::kBegin});
}

// Copying the steps takes most of the time. An ambiguous journey has them anyway.
void CallRecorder::on_journey(const journeys::Journey& journey) {
  if (journey.steps.empty() || of_.wants_steps_of(journey)) {
    log_.add(*turn_, journey);
    return;
  }
  journeys::Journey without = journey;
  without.steps = {};
  without.ambiguities = {};
  log_.add(*turn_, without);
}

void CallRecorder::on_stay(const journeys::Stay& stay) {
  if (wants_places_) log_.add(*turn_, stay);
}

void CallRecorder::on_enter(std::uint16_t place, std::uint64_t ts_ns) {
  if (wants_places_) log_.add(*turn_, {.ts_ns = ts_ns, .place = place, .kind = Call::Kind::kEnter});
}

void CallRecorder::on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                            bool seen) {
  if (!wants_places_) return;
  const auto kind = seen ? Call::Kind::kLeave : Call::Kind::kGiveUp;
  log_.add(*turn_, {.ts_ns = ts_ns, .entered_ns = entered_ns, .place = place, .kind = kind});
}

void CallRecorder::on_wait(bool begins) {
  if (!wants_places_) return;
  log_.add(*turn_, {.kind = begins ? Call::Kind::kWait : Call::Kind::kWaitEnd});
}

}  // namespace sojourn::pipeline
