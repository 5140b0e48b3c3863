// What the rebuild gives: journeys as they close, hops and changes of depth as they happen. All of
// it is seen through Observer; spans are valid during the call only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/journeys/ambiguity.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

inline constexpr std::uint32_t kNoStep = UINT32_MAX;

struct Step {
  std::uint64_t ts_ns = 0;
  std::uint64_t entered_ns = 0;  // when its unit's stay began: earlier than ts_ns for HARQ rounds
  std::uint64_t seq = 0;         // with the stream, which event it is
  std::uint32_t tid = 0;
  std::uint32_t stream = 0;
  model::PointId point = 0;
  bool again = false;   // its piece came to the point before
  bool inside = false;  // at the end of the capture its unit was in the place that it entered
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

// Time in a place.
struct CriticalPathSpan {
  std::uint16_t place = 0;
  std::uint64_t ns = 0;
};

// A unit that was in the place that it entered when the capture ended.
struct Inside {
  std::uint16_t place = 0;
  std::uint64_t since_ns = 0;
};

struct Journey {
  std::uint64_t id = 0;
  model::Direction direction = model::Direction::kDownlink;
  Outcome outcome = Outcome::kIncomplete;
  bool ambiguous = false;
  bool headless = false;           // its beginning was not seen
  std::uint32_t alternatives = 0;  // other units that fitted as well; of a step at least so many
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;       // whole at the output, or the last event
  std::uint64_t last_ns = 0;      // the last event
  std::uint64_t last_out_ns = 0;  // 0: never
  std::uint64_t ack_ns = 0;       // 0: none seen
  std::uint32_t segments = 1;     // distinct pieces it was cut into, or made from (Pieces)
  std::uint32_t retransmissions = 0;
  std::uint32_t harq_retransmissions = 0;  // of them
  std::uint32_t drops = 0;
  std::uint32_t end_step = 0;  // the step at end_ns
  std::uint32_t own_step = 0;  // the packet's own: where it entered, or where it left
  // The end of the capture, where something of it was inside then (Step::inside); 0: nothing was,
  // or that is not known.
  std::uint64_t inside_until_ns = 0;
  std::span<const Inside> inside = {};  // what of it was
  // Where it was when on the way that decided its latency, from the end on: downlink back from the
  // byte that came last, uplink on from the one that came first. Of complete ones.
  std::span<const CriticalPathSpan> critical_path = {};
  std::span<const Step> steps = {};             // in time order; none where nobody wants them
  std::span<const Ambiguity> ambiguities = {};  // of those of them that are, in the same order

  // The journey is ambiguous where one of its steps is.
  void set_ambiguities(std::span<const Ambiguity> of_steps) {
    ambiguous = !of_steps.empty();
    ambiguities = of_steps;
    for (const auto& one : of_steps)
      alternatives += static_cast<std::uint32_t>(one.alternatives.size());
  }

  std::uint64_t latency_ns() const { return end_ns - start_ns; }
  // A packet that was seen at one point only has none, though it is complete: it came and left by
  // the same event.
  bool has_latency() const {
    return outcome == Outcome::kComplete && (end_ns != start_ns || !critical_path.empty());
  }
};

// A unit's time in a place, ended by an event at which it, or a piece of it, left.
struct Stay {
  std::uint32_t pair = 0;  // in Topology::pairs
  std::uint64_t entered_ns = 0;
  std::uint64_t left_ns = 0;
  std::uint32_t entered_by = 0;  // threads
  std::uint32_t left_by = 0;
  std::span<const std::uint64_t> values;               // of the event that left
  std::span<const std::uint64_t> entered_values = {};  // and of that which entered
};

class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  // Whether on_journey() looks at the steps of a journey and at its ambiguities: to gather them
  // takes time. Asked once, before the first.
  virtual bool wants_steps() const { return true; }

  // Whether only some units are told of: those of which counts() is true. Asked once as well.
  virtual bool is_selective() const { return false; }
  // Whether a unit that enters a place by this event is told of there, from on_enter() to
  // on_leave(), with its stays.
  virtual bool selects(const model::EventView& /*event*/) const { return true; }

  // Whether on_enter() and on_leave() are to come in the order of their times, as a depth over time
  // needs them; else they come as they become known, which is up to the rules' `late` after others
  // of later times. Asked once.
  virtual bool wants_order() const { return true; }

  // May come before it is told that something of it left.
  virtual void on_journey(const Journey&) {}
  // A unit that entered by a pair's parent left by its child.
  virtual void on_stay(const Stay& /*stay*/) {}
  virtual void on_enter(std::uint16_t /*place*/, std::uint64_t /*ts_ns*/) {}
  // `seen` is false where the unit was given up, not seen to leave.
  virtual void on_leave(std::uint16_t /*place*/, std::uint64_t /*entered_ns*/,
                        std::uint64_t /*ts_ns*/, bool /*seen*/) {}
};

}  // namespace sojourn::journeys
