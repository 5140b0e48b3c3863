// The states of the target's threads, from the switches and wakeups of a trace's kernel context:
// consecutive spans of running, runnable and blocked, for each thread from the open mark to the
// close mark. Memory grows with threads, not with the trace. One thread owns a ThreadStates.
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
  kUnknown,   // the events that would show it were lost
  kRunning,   // on a CPU, where an interrupt may run as well
  kRunnable,  // it wanted a CPU
  kBlocked,   // it waited for something else
  kGone,      // not created yet, or ended
};

// Returns whether a thread gives up its CPU because it waits, by the field `state` of sched.switch.
bool waits_in(std::uint64_t switch_state);

// The kind of code (a thread or an interrupt) that woke a thread.
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
  // Runnable: the thread that had that CPU at first. Blocked: its waker. 0: not known, or the CPU
  // was idle.
  std::uint32_t by = 0;
  Waker waker = Waker::kThread;  // blocked: not kThread: `by` only ran where the interrupt came
  bool was_running = false;      // runnable: it lost its CPU; else it was woken
};

// The fields of each kind of context events; a trace of another version may lack some.
class ContextPoints {
 public:
  explicit ContextPoints(const model::Schema& schema);

  // Whether an event of the point can be one of these. Most events of a trace are the target's.
  bool has(model::PointId point) const { return point < is_one_.size() && is_one_[point]; }

  // The event's value, if it is an event of this point and has the field.
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

 private:
  std::vector<bool> is_one_;  // by point
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

  // The state of a thread of the target since its last event, up to now.
  std::optional<ThreadSpan> current(std::uint32_t tid, std::uint64_t now_ns) const;

 private:
  struct Thread {
    State state = State::kUnknown;
    bool is_first = true;  // its first event shows its state since the open mark
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
