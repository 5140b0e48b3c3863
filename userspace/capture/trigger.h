// What happens by itself while a capture runs: rules of a condition and an action, and the watch
// that compares every event with the conditions. The sink's thread looks, the capture's thread
// acts; a Watch is for both.
#pragma once

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
#include "userspace/capture/store.h"

namespace sojourn::capture {

struct Trigger {
  enum class When : std::uint8_t { kEvent, kLoss, kExit };
  enum class Action : std::uint8_t { kDump, kStart, kStop, kEnable, kDisable };

  When when = When::kEvent;
  Action action = Action::kDump;
  std::string points;  // a pattern of those to switch
  filter::Expression expression;
  std::string words;  // as it was given
};

// "[ACTION:] WHEN": dump, start, stop, enable GLOB or disable GLOB; `loss`, `exit` or an expression
// over events. Without an action: dump.
Result<Trigger> parse_trigger(std::string_view words);

struct Fired {
  std::size_t trigger = 0;  // of those that were given
  std::uint64_t ts_ns = 0;  // of the event
};

class Watch {
 public:
  // Compiles the conditions; an error says which of them does not fit the target's points.
  static Result<void> check(const std::vector<Trigger>& triggers, const model::Schema& schema);

  Watch(std::vector<Trigger> triggers, const model::Schema& schema);

  // On the sink's thread, before the item is stored.
  void look(const Item& item);

  // On the capture's: the first event of each trigger that fired since the last call.
  std::vector<Fired> take_fired();

 private:
  struct Condition {
    std::size_t trigger = 0;
    std::optional<filter::EventFilter> filter = {};
  };

  void compile(const model::Schema& schema);
  void look_at(const model::EventBatch& events);

  std::vector<Trigger> triggers_;
  std::vector<model::Stream> streams_;
  std::vector<Condition> conditions_;
  std::vector<std::uint32_t> rows_;

  std::mutex mutex_;
  std::vector<Fired> fired_;
};

}  // namespace sojourn::capture
