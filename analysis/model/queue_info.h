// A trace's record of the target's queues: descriptions, their changes, and how their counters were
// sampled. The samples themselves are events (docs/queues.md). Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::model {

// Stored in traces: values are explicit and never reused.
enum class QueueKind : std::uint8_t {
  kStage = 0,
  kPool = 1,  // of memory: its items are free buffers, and empty is the bad state
  kBidirectional = 2,
  kBetweenProcesses = 3,
};
// Returns whether items wait in it for a consumer, unlike in pools and bidirectional queues.
constexpr bool is_waiting_line(QueueKind kind) {
  return kind == QueueKind::kStage || kind == QueueKind::kBetweenProcesses;
}
std::string_view name(QueueKind kind);  // stage, pool, bidirectional, between processes
std::optional<QueueKind> queue_kind_from_name(std::string_view name);

struct QueueSide {
  std::string stage;           // empty: not known
  std::int32_t instance = -1;  // -1: not known
  std::int32_t pid = 0;        // 0: the target itself

  bool operator==(const QueueSide&) const = default;
};

struct QueueInfo {
  std::uint64_t id = 0;  // as in the samples; not 0
  std::string name;
  QueueKind kind = QueueKind::kStage;
  QueueSide producer;
  QueueSide consumer;
  std::uint32_t group = 0;     // or pool; 0: none
  std::uint64_t capacity = 0;  // 0: not bounded

  bool operator==(const QueueInfo&) const = default;

  std::string shown_name() const;  // "queue 0x1f3" if it has none

  // is_place() returns whether this is the queue of a place between points: it has its name.
  // is_group_of() returns whether it holds only some of the place's units: more words follow the
  // name.
  bool is_place(std::string_view place) const { return name == place; }
  bool is_group_of(std::string_view place) const;
  // Returns whether these threads hand units over through it: its sides have their names.
  bool joins(std::string_view from_thread, std::string_view to_thread) const;
};

// Stored in traces: values are explicit and never reused.
enum class QueueEvent : std::uint8_t { kFound = 0, kAppeared = 1, kDescribed = 2, kEnded = 3 };
std::string_view name(QueueEvent event);  // found, appeared, described, ended
std::optional<QueueEvent> queue_event_from_name(std::string_view name);

// A change of a queue, at some time after `after_ns` and not after `ts_ns`.
struct QueueChange {
  QueueEvent event = QueueEvent::kFound;
  std::uint64_t ts_ns = 0;
  std::uint64_t after_ns = 0;
  QueueInfo about;  // the description from then on, or the last one

  bool operator==(const QueueChange&) const = default;
};
using QueueChanges = std::vector<QueueChange>;

enum class SamplingMode : std::uint8_t { kFixed = 0, kAdaptive = 1, kBusy = 2 };
std::string_view name(SamplingMode mode);  // fixed, adaptive, busy
std::optional<SamplingMode> sampling_mode_from_name(std::string_view name);

struct QueueLooks {
  std::uint64_t id = 0;
  std::uint64_t looks = 0;
  std::uint64_t unsettled = 0;  // samples during which the counters changed

  bool operator==(const QueueLooks&) const = default;
};

// Totals of the sampler; all 0 if nothing was sampled.
struct Sampling {
  SamplingMode mode = SamplingMode::kFixed;
  std::uint64_t period_ns = 0;
  std::int32_t cpu = -1;  // -1: any
  std::uint64_t passes = 0;
  std::uint64_t missed = 0;      // ticks that it missed because it was late
  std::uint64_t held_back = 0;   // passes left out because the sink was behind
  std::uint64_t looks = 0;       // at single queues
  std::uint64_t pass_ns = 0;     // all passes together, without the waits between them
  std::uint64_t longest_ns = 0;  // of one pass
  std::uint64_t cpu_ns = 0;      // of the sampler's thread
  std::uint64_t refused = 0;     // registrations that found no place in the target
  std::vector<QueueLooks> queues;

  bool operator==(const Sampling&) const = default;
};

// A sample: the counters at an instant within [ts_ns, ts_ns + span_ns]. A look that finds unchanged
// counters makes no sample. `same` such looks came before this one, the last of them gap_ns before
// it.
struct QueueSample {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t slack = 0;  // `out` may be too low by up to this; 0: the counters rested
  std::uint64_t span_ns = 0;
  std::uint64_t gap_ns = 0;
  std::uint64_t same = 0;
  std::uint64_t queue = 0;

  static constexpr std::size_t kFields = 7;
  std::array<std::uint64_t, kFields> values() const {
    return {in, out, slack, span_ns, gap_ns, same, queue};
  }
  // An out that is not counted under a lock can be seen before its in.
  std::uint64_t depth() const { return in > out ? in - out : 0; }
};

// "Q queue.sample" with those fields.
Point queue_sample_point();

// Nothing if the event belongs to another point.
std::optional<QueueSample> queue_sample(const Schema& schema, const EventView& event);

}  // namespace sojourn::model
