// A log of a rebuilder's calls to its observer, with the turn of each, so that they can be repeated
// in another thread. Clearing keeps the memory. One thread at a time has a CallLog.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/turn.h"
#include "analysis/pipeline/journey_log.h"

namespace sojourn::pipeline {

struct Call {
  enum class Kind : std::uint8_t {
    kBegin,    // a journey got its number
    kJourney,  // `index`: in the log of journeys
    kStay,     // `index`: in the log of stays
    kEnter,
    kLeave,
    kGiveUp,
    kWait,
    kWaitEnd,
  };

  std::uint64_t ts_ns = 0;       // kBegin: the number
  std::uint64_t entered_ns = 0;  // of a unit that leaves a place
  std::uint32_t index = 0;
  std::uint16_t place = 0;
  Kind kind = Kind::kBegin;
};

class CallLog {
 public:
  // Calls that came at one turn.
  struct Section {
    journeys::Turn turn;
    std::size_t end = 0;  // in calls()
  };

  void add(const journeys::Turn& turn, const Call& call);
  void add(const journeys::Turn& turn, const journeys::Journey& journey);
  void add(const journeys::Turn& turn, const journeys::Stay& stay);
  void clear();

  std::span<const Section> sections() const { return sections_; }
  std::span<const Call> calls() const { return calls_; }
  // The arguments of a call of that kind. Valid until the log changes.
  const journeys::Journey& journey(const Call& call) { return journeys_[call.index]; }
  journeys::Stay stay(const Call& call) const;

 private:
  struct KeptStay {
    std::uint64_t entered_ns = 0;
    std::uint64_t left_ns = 0;
    std::uint32_t pair = 0;
    std::uint32_t entered_by = 0;
    std::uint32_t left_by = 0;
    std::uint32_t values = 0;  // the begin of the values, then those of the event that entered
    std::uint16_t value_count = 0;
    std::uint16_t entered_value_count = 0;
  };

  std::vector<Section> sections_;
  std::vector<Call> calls_;
  JourneyLog journeys_;
  std::vector<KeptStay> stays_;
  std::vector<std::uint64_t> values_;  // of stays
};

// The observer that writes a log. It keeps only what the observer `of` uses, which must outlive it.
class CallRecorder : public journeys::Observer {
 public:
  // `wants_order`: entering and leaving is put in order of time before it is written.
  CallRecorder(const journeys::Observer& of, bool wants_order)
      : of_(of),
        wants_steps_(of.wants_steps()),
        wants_places_(of.wants_places()),
        wants_order_(of.wants_order() && wants_order) {}

  // Sets the turn() of the rebuilder that calls this observer.
  void set_turn(const journeys::Turn& turn) { turn_ = &turn; }
  CallLog& log() { return log_; }

  bool wants_steps() const override { return wants_steps_; }
  bool wants_steps_of(const journeys::Journey& journey) const override {
    return of_.wants_steps_of(journey);
  }
  bool wants_places() const override { return wants_places_; }
  bool wants_order() const override { return wants_order_; }
  void on_begin(std::uint64_t id) override;
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override;
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;
  void on_wait(bool begins) override;

 private:
  const journeys::Observer& of_;
  bool wants_steps_;
  bool wants_places_;
  bool wants_order_;
  const journeys::Turn* turn_ = nullptr;
  CallLog log_;
};

}  // namespace sojourn::pipeline
