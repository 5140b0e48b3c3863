// Triggers of a capture, each a condition and an action, and the watch that tests the conditions on
// every event, and on every journey if a condition asks for that. The sink's thread tests, the
// capture's thread acts; both use the TriggerWatch.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/event_filter.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "userspace/capture/control/journey_watch.h"
#include "userspace/capture/output/item_store.h"

namespace sojourn::capture {

struct Trigger {
  enum class When : std::uint8_t { kEvent, kJourney, kLoss, kExit };
  enum class Action : std::uint8_t { kDump, kStart, kStop, kEnable, kDisable };

  When when = When::kEvent;
  Action action = Action::kDump;
  std::string points;  // a pattern of those to switch
  filter::Expression expression;
  std::string words;  // as it was given
};

// "[ACTION:] WHEN": dump, start, stop, enable GLOB or disable GLOB; `loss`, `exit` or an expression
// over events or over journeys. Without an action: dump.
Result<Trigger> parse_trigger(std::string_view words);

struct Fired {
  std::size_t trigger = 0;  // its index
  std::uint64_t ts_ns = 0;  // of the event, or of the journey's end
};

class TriggerWatch {
 public:
  // Compiles the conditions; an error says which of them does not fit the target's points.
  static Result<void> check(const std::vector<Trigger>& triggers, const model::Schema& schema);

  TriggerWatch(std::vector<Trigger> triggers, const model::Schema& schema);

  // Tests an item, on the sink's thread, before the item is stored.
  void look(const Item& item);

  // Rebuilds journeys up to the watermark, on the sink's thread.
  void advance(std::uint64_t watermark_ns);

  // The first event of each trigger that fired since the last call, on the capture's thread.
  std::vector<Fired> take_fired();

  // Returns whether take_fired() would return any. Any thread may call it.
  bool has_fired() const;

  // For conditions on journeys, on the capture's thread: returns whether there are any; skips
  // events for lack of time; returns how many events were skipped.
  bool wants_watermark() const { return journeys_.has_value(); }
  void set_hurry(bool hurry) { hurry_ = hurry; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct Condition {
    std::size_t trigger = 0;
    std::optional<filter::EventFilter> filter = {};
  };

  void begin(std::uint64_t open_ns);
  void compile();
  void learn(const model::Context& context);
  void look_at(const model::EventBatch& events);
  void fire(std::size_t trigger, std::uint64_t ts_ns);

  std::vector<Trigger> triggers_;
  model::Schema schema_;
  std::uint64_t open_ns_ = 0;  // of the capture: `time` counts from it
  std::vector<model::Stream> streams_;
  filter::ThreadNames threads_;
  std::vector<Condition> conditions_;
  std::vector<std::uint32_t> rows_;
  std::optional<JourneyWatch> journeys_;

  std::atomic<bool> hurry_ = false;
  std::atomic<std::uint64_t> left_out_ = 0;
  mutable std::mutex mutex_;
  std::vector<Fired> fired_;
};

}  // namespace sojourn::capture
