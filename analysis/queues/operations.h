// Queues from the events of their own operations (the points `I queue--enqueue` and
// `I queue--dequeue` of SJ_ENQUEUE_ITEM and SJ_DEQUEUE_ITEM), whether or not they were sampled.
// Feed it the events in the order of time. Memory is bounded by what is in the queues. One thread
// owns an Operations.
//
// The first event's depth shows how many were inside before. Items of the same number leave in the
// order in which they came. In a pool a buffer that is taken counts as entering, and one that is
// given back as leaving.
//
// If only some items count, all are followed nevertheless: when an item leaves, its number shows
// which arrival it belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"
#include "analysis/queues/item_selection.h"
#include "analysis/queues/meter.h"

namespace sojourn::queues {

struct OperatedQueue {
  model::QueueInfo about;  // only an id if the trace does not describe it
  Meter meter;
  // Items that left without an enter, or entered twice without a leave: events were lost.
  std::uint64_t unseen_in = 0;
  std::uint64_t unseen_out = 0;
  // Items that came while another of the same number was inside.
  std::uint64_t namesakes = 0;
  // Items that were inside at the high-water mark, in the order in which they left.
  static constexpr std::size_t kMaxListed = 8;
  std::uint64_t mark_ns = 0;
  std::uint64_t inside = 0;
  std::vector<std::uint64_t> items;               // the first of them
  std::map<std::uint32_t, std::uint64_t> fed_by;  // thread, items
  std::map<std::uint32_t, std::uint64_t> drained_by;

  bool is_waiting_line() const { return model::is_waiting_line(about.kind); }

  // By the kind of queue, as for sampled queues; nothing if it has no meaning for the kind.
  std::optional<double> utilisation() const;
  std::optional<double> predicted_ns() const;
};

// The threads that did at least a tenth of the work.
std::vector<std::uint32_t> main_threads(const std::map<std::uint32_t, std::uint64_t>& items);

class Operations {
 public:
  // The schema outlives it.
  Operations(const model::Schema& schema, const model::QueueChanges& changes, std::uint64_t open_ns,
             ItemSelection selection = {});

  void consume(const model::EventBatch& events);
  void finish(std::uint64_t end_ns);

  bool empty() const { return queues().empty(); }
  std::vector<const OperatedQueue*> queues() const;  // queues that wanted items entered, by id
  // The queues before a queue: a main thread that drains them feeds it.
  struct Before {
    static constexpr std::size_t kMaxListed = 8;
    std::vector<std::size_t> first;  // indices into queues()
    std::size_t all = 0;

    bool operator==(const Before&) const = default;
  };
  std::vector<Before> before() const;  // by queue, as in queues()

 private:
  struct Plan {
    bool enqueues = false;
    std::size_t queue = 0;  // fields
    std::optional<std::size_t> item;
    std::optional<std::size_t> depth;
  };
  struct Item {
    std::uint64_t entered_ns = 0;
    bool counts = true;
  };
  struct State {
    OperatedQueue queue;
    std::multimap<std::uint64_t, Item> items;  // by number, the oldest first
    std::uint64_t unknown = 0;                 // items inside whose arrival is not remembered

    std::uint64_t inside() const { return items.size() + unknown; }
  };
  State& state(const Plan& plan, const model::EventView& event);
  static bool is_namesake(const State& state, const Plan& plan, const model::EventView& event);
  // Adds the item. False: it does not count.
  bool enter(State& state, const Plan& plan, const model::EventView& event) const;
  bool leave(State& state, const Plan& plan, const model::EventView& event) const;
  static void note_at_mark(OperatedQueue& queue, std::uint64_t number, const Item& item,
                           std::uint64_t left_ns);

  std::vector<std::optional<Plan>> plans_;  // by point
  std::unordered_map<std::uint64_t, model::QueueInfo> about_;
  std::map<std::uint64_t, State> queues_;
  std::uint64_t open_ns_;
  ItemSelection selection_;
};

}  // namespace sojourn::queues
