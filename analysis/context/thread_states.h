// What each thread of the target was doing, from the switches and wakeups of a trace's kernel
// context: spans of running, runnable and blocked, one after the other, for each thread from the
// open mark to the close. Memory grows with threads, not with the trace. One thread owns a
// ThreadStates.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::context {

enum class State : std::uint8_t {
  kUnknown,   // events that would tell were lost
  kRunning,   // on a CPU, though an interrupt may be there as well
  kRunnable,  // it wanted a CPU
  kBlocked,   // it waited for something else
  kGone,      // before it was made, or after its end
};

// Of the field `state` of sched.switch: the thread gives its CPU up, as it has nothing to do there.
bool waits_in(std::uint64_t switch_state);

// On whose behalf a thread was woken.
enum class Waker : std::uint8_t {
  kThread,
  kSoftirq,    // such as the network's
  kInterrupt,  // such as a timer's or a disk's
  kUnknown,
};

// [begin, end), never empty.
struct ThreadSpan {
  std::uint32_t tid = 0;
  State state = State::kUnknown;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::int32_t cpu = -1;  // running: where; runnable: where it queued, if that is known
  std::uint32_t by = 0;   // runnable: who had that CPU at first; blocked: who woke it; 0: nobody
                          // that is known, or the idle CPU
  Waker waker = Waker::kThread;  // blocked: not kThread: `by` only ran where the interrupt came
  bool was_running = false;      // runnable: it lost its CPU; else it was woken
};

// Where the fields of a kind of context events are; a trace of another version may lack some.
class ContextPoints {
 public:
  explicit ContextPoints(const model::Schema& schema);

  // The event's value, where it is one of this point and has the field.
  struct Place {
    std::optional<model::PointId> point;
    std::vector<std::size_t> fields;

    bool is(const model::EventView& event) const {
      return point == event.point && event.values.size() > last;
    }
    std::uint64_t value(const model::EventView& event, std::size_t index) const {
      return event.values[fields[index]];
    }
    std::size_t last = 0;  // the largest of `fields`
  };
  Place on_switch;  // prev prev_pid state next next_pid
  Place wakeup;     // waker from cpu
  Place migrate;    // from to
  Place irq;        // ns nested
  Place softirq;    // ns
  Place syscall;    // ns
  Place fault;      // address
};

class ThreadStates {
 public:
  using Take = std::function<void(const ThreadSpan&)>;

  // The target's threads are those of `pids`. Spans come in order for each thread.
  ThreadStates(const model::Schema& schema, const model::Context& context,
               const model::Capture& capture, const model::Pids& pids, Take take);

  // Events in time order; others than the scheduler's are skipped.
  void consume(const model::EventView& event, std::int32_t cpu);
  void finish(std::uint64_t end_ns);

  // What a thread of the target has been doing since its last event, up to now.
  std::optional<ThreadSpan> current(std::uint32_t tid, std::uint64_t now_ns) const;

 private:
  struct Thread {
    State state = State::kUnknown;
    bool is_first = true;  // what it did since the open mark, its first event tells
    std::uint64_t since_ns = 0;
    std::int32_t cpu = -1;
    std::uint32_t by = 0;
    Waker waker = Waker::kThread;
    bool was_running = false;
  };
  void on_switch(const model::EventView& event, std::int32_t cpu);
  void on_wakeup(const model::EventView& event);
  Thread& thread(std::uint32_t tid);
  void change_state(std::uint32_t tid, std::uint64_t ts_ns, State was, State next);

  ContextPoints points_;
  model::Pids pids_;
  std::uint64_t open_ns_;
  Take take_;
  std::unordered_map<std::uint32_t, Thread> threads_;
};

}  // namespace sojourn::context
