// The results of a rebuild and the interface of those who receive them (Observer): journeys when
// they close, stays and changes of depth when they happen. Spans are valid during the call only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/journeys/ambiguity.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

inline constexpr std::uint32_t kNoStep = UINT32_MAX;

struct Step {
  std::uint64_t ts_ns = 0;
  // When the stay of its unit began. That is earlier than ts_ns for later HARQ rounds.
  std::uint64_t entered_ns = 0;
  std::uint64_t seq = 0;  // its number in the stream
  std::uint32_t tid = 0;
  std::uint32_t stream = 0;
  model::PointId point = 0;
  bool again = false;   // an earlier step brought the same segment to this point
  bool inside = false;  // its unit was in the place that it entered when the capture ended
  std::uint32_t repeat_of = kNoStep;
  std::span<const std::uint64_t> values;
  std::span<const std::uint32_t> parents;  // indices of steps
};

enum class Outcome : std::uint8_t {
  kComplete,
  kCensored,    // cut by the start or the end of the capture, or by lost events
  kIncomplete,  // neither left nor was dropped in time
  kDropped,
};

constexpr std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kComplete:
      return "complete";
    case Outcome::kCensored:
      return "censored";
    case Outcome::kIncomplete:
      return "incomplete";
    case Outcome::kDropped:
      return "dropped";
  }
  return "";
}

// Time in a place that is part of the latency.
struct CriticalPathSpan {
  std::uint16_t place = 0;
  std::uint64_t ns = 0;
  std::uint64_t left_ns = 0;     // so the time is from left_ns - ns on
  std::uint32_t entered_by = 0;  // threads
  std::uint32_t left_by = 0;
};

// A unit that was in the place that it entered when the capture ended.
struct Inside {
  std::uint16_t place = 0;
  std::uint64_t since_ns = 0;
};

// An activity of a script that ended, or a marker that was raised, on the thread that ended a stay
// of the journey's units, while that lasted.
struct Meanwhile {
  model::PointId point = 0;
  std::uint32_t tid = 0;
  std::uint32_t step = 0;  // that ended the stay
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::vector<std::uint64_t> values;
};

struct Journey {
  std::uint64_t id = 0;
  model::Direction direction = model::Direction::kDownlink;
  Outcome outcome = Outcome::kIncomplete;
  bool ambiguous = false;
  bool headless = false;           // its beginning was not seen
  std::uint32_t alternatives = 0;  // other units that fitted as well, as far as they are named
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;       // when it was whole at the output, else its last event
  std::uint64_t last_ns = 0;      // its last event
  std::uint64_t last_out_ns = 0;  // 0: never
  std::uint64_t ack_ns = 0;       // 0: none seen
  std::uint32_t segments = 1;     // distinct ones that it was cut into or reassembled from
  std::uint32_t retransmissions = 0;
  std::uint32_t harq_retransmissions = 0;  // that are included in retransmissions
  std::uint32_t drops = 0;
  std::uint32_t end_step = 0;  // the step at end_ns
  std::uint32_t own_step = 0;  // where the packet entered, or where it left, as it is anchored
  // The end of the capture, where units of the journey were inside then (Step::inside). 0: none
  // were, or that is not known.
  std::uint64_t inside_until_ns = 0;
  std::span<const Inside> inside = {};  // these units
  // The places on the way that decided the latency of a complete journey, the last one first. A
  // downlink journey is followed back from the byte that came last, an uplink journey from the byte
  // that came first.
  std::span<const CriticalPathSpan> critical_path = {};
  std::span<const Step> steps = {};             // in time order; empty where no observer wants them
  std::span<const Ambiguity> ambiguities = {};  // of the ambiguous steps, in the same order
  // Ordered by step, then by time. Empty if no observer wants them; some may be missing.
  std::span<const Meanwhile> meanwhile = {};
  bool lacks_meanwhile = false;

  // The journey is ambiguous where one of its steps is.
  void set_ambiguities(std::span<const Ambiguity> of_steps) {
    ambiguous = !of_steps.empty();
    ambiguities = of_steps;
    for (const auto& one : of_steps)
      alternatives += static_cast<std::uint32_t>(one.alternatives.size());
  }

  std::uint64_t latency_ns() const { return end_ns - start_ns; }
  // A complete packet that was seen at one point only has no latency: it came and left by the same
  // event.
  bool has_latency() const {
    return outcome == Outcome::kComplete && (end_ns != start_ns || !critical_path.empty());
  }
};

// The time of a unit in a place, until the event by which it, or a segment of it, left.
struct Stay {
  std::uint32_t pair = 0;  // in Topology::pairs
  std::uint64_t entered_ns = 0;
  std::uint64_t left_ns = 0;
  std::uint32_t entered_by = 0;  // the thread of the event
  std::uint32_t left_by = 0;
  std::span<const std::uint64_t> values;               // of the event that left
  std::span<const std::uint64_t> entered_values = {};  // of the event that entered
};

class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  // Returns whether on_journey() needs the steps of a journey and its ambiguities. Gathering them
  // takes time. Called once, before the first journey.
  virtual bool wants_steps() const { return true; }

  // Returns whether the observer wants the steps and ambiguities of this journey, which is passed
  // without them. Another thread may call it, where journeys are made. So the answer may depend
  // only on the journey and on constant data.
  virtual bool wants_steps_of(const Journey& /*journey*/) const { return true; }

  // Returns whether the observer wants the stays and the depths of some units only: those for which
  // selects() is true. Called once.
  virtual bool is_selective() const { return false; }
  // Returns whether the observer wants the unit that enters a place by this event: its stay, and
  // its on_enter() and on_leave().
  virtual bool selects(const model::EventView& /*event*/) const { return true; }

  // Returns whether on_enter() and on_leave() must be called in the order of their times, as a
  // depth over time needs it. Without that order they are called when they become known. That may
  // be up to the rules' `late` after calls with later times. Called once.
  virtual bool wants_order() const { return true; }

  // Returns whether the observer uses on_stay(), on_enter() and on_leave(). If not, they may be
  // called all the same, but a log of calls leaves them out.
  virtual bool wants_places() const { return true; }

  // A journey begins and gets its number, which on_journey() repeats.
  virtual void on_begin(std::uint64_t /*id*/) {}
  // All events, in batches in time order. A batch comes before all other calls about its events.
  virtual void on_events(const model::EventBatch& /*events*/) {}
  // May be called before on_leave() of one of its units.
  virtual void on_journey(const Journey&) {}
  // A unit that entered by the parent of a pair left by its child.
  virtual void on_stay(const Stay& /*stay*/) {}
  virtual void on_enter(std::uint16_t /*place*/, std::uint64_t /*ts_ns*/) {}
  // `seen` is false where the unit was not seen to leave, and was given up.
  virtual void on_leave(std::uint16_t /*place*/, std::uint64_t /*entered_ns*/,
                        std::uint64_t /*ts_ns*/, bool /*seen*/) {}
  // Called only if wants_order() is false, when an event begins to wait for its parent and when
  // that wait ends. Only while an event waits may on_enter() and on_leave() come with earlier times
  // than the calls before.
  virtual void on_wait(bool /*begins*/) {}
};

}  // namespace sojourn::journeys
