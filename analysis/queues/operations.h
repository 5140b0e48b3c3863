// Queues from the events of their own operations (the points `I queue--enqueue` and
// `I queue--dequeue` of SJ_ENQUEUE_ITEM and SJ_DEQUEUE_ITEM), whether or not they were sampled.
// Feed it the events in the order of time. Memory is bounded by what is in the queues. One thread
// owns an Operations.
//
// The first event's own depth says how many were inside before. Items of the same number leave in
// the order in which they came. A pool is judged by what is taken from it: a buffer that is taken
// enters, one that is given back leaves.
//
// Where only some items count, all are followed none the less: an item's number says which of those
// that came it is that leaves.
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
  model::QueueInfo about;  // only an id where the trace does not describe it
  Meter meter;
  // Items that left without having come, or came once more without having left: events were lost.
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

  // By the queue's own meaning, as of sampled ones; nothing where it means nothing.
  std::optional<double> utilisation() const;
  std::optional<double> predicted_ns() const;
};

// The threads that did a tenth of the work.
std::vector<std::uint32_t> main_threads(const std::map<std::uint32_t, std::uint64_t>& items);

class Operations {
 public:
  // The schema outlives it.
  Operations(const model::Schema& schema, const model::QueueChanges& changes, std::uint64_t open_ns,
             ItemSelection selection = {});

  void consume(const model::EventBatch& events);
  void finish(std::uint64_t end_ns);

  bool empty() const { return queues().empty(); }
  std::vector<const OperatedQueue*> queues() const;  // that items which count came to, by id
  // The queues whose items may go on into one, as a main thread that drains them feeds it.
  struct Before {
    static constexpr std::size_t kMaxListed = 8;
    std::vector<std::size_t> first;  // by their places in queues()
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
    std::multimap<std::uint64_t, Item> items;  // by number, the one that waits longest first
    std::uint64_t unknown = 0;                 // items inside of which the coming is not remembered

    std::uint64_t inside() const { return items.size() + unknown; }
  };
  State& state(const Plan& plan, const model::EventView& event);
  static bool is_namesake(const State& state, const Plan& plan, const model::EventView& event);
  // Whether the item is one of those that count.
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
