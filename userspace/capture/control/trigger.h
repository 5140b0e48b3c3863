// What happens by itself while a capture runs: rules of a condition and an action, and the watch
// that compares every event, and where that is asked for every journey, with the conditions. The
// sink's thread looks, the capture's thread acts; a TriggerWatch is for both.
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
  std::size_t trigger = 0;  // of those that were given
  std::uint64_t ts_ns = 0;  // of the event, or of the journey's end
};

class TriggerWatch {
 public:
  // Compiles the conditions; an error says which of them does not fit the target's points.
  static Result<void> check(const std::vector<Trigger>& triggers, const model::Schema& schema);

  TriggerWatch(std::vector<Trigger> triggers, const model::Schema& schema);

  // On the sink's thread, before the item is stored.
  void look(const Item& item);

  // On the sink's thread, too: journeys can be rebuilt up to there.
  void advance(std::uint64_t watermark_ns);

  // On the capture's: the first event of each trigger that fired since the last call.
  std::vector<Fired> take_fired();

  // On any thread: whether there are some that nobody has taken yet.
  bool has_fired() const;

  // On the capture's, of conditions on journeys: whether there are any; that there is no time to
  // look at them now; how many events were so left out.
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
