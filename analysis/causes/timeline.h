// The recent history of the target's threads: spans of running, runnable and blocked, interrupts,
// system calls, page faults, their events of packets, and samples of queues. Takes a trace's events
// in the order of time; queries are for times before the last of them. Memory is bounded by a time
// and a number; begin_ns() is the beginning of the remembered time. One thread owns a Timeline.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/causes/slot_clock.h"
#include "analysis/context/thread_states.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"

namespace sojourn::causes {

// The parts of a trace besides events. All outlive the Timeline.
struct TraceMetadata {
  const model::Schema& schema;
  const model::Context& context;
  const model::Capture& capture;
  const std::vector<model::Stream>& streams;
  const model::QueueChanges& queue_changes;
  const std::vector<model::Target>& targets;
};

class Timeline {
 public:
  struct Limits {
    std::uint64_t span_ns = 12'000'000'000;  // a journey may be reported ten seconds after its end
    std::size_t entries = 16'000'000;
  };

  Timeline(const TraceMetadata& source, const journeys::Topology& topology, Limits limits);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  void consume(const model::EventBatch& events);
  // When the trace began.
  std::uint64_t open_ns() const { return open_ns_; }
  // From then on everything is known.
  std::uint64_t begin_ns() const { return begin_ns_; }

  bool knows_states() const { return knows_states_; }

  // The thread's spans that overlap [from, to), not clipped, in order.
  void each_span(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t to_ns,
                 const std::function<void(const context::ThreadSpan&)>& take) const;
  // When the thread's last event of a packet before an instant was; 0: not known.
  std::uint64_t last_event_before(std::uint32_t tid, std::uint64_t ts_ns) const;
  std::uint64_t faults(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t to_ns) const;

  struct Interrupt {
    std::uint64_t end_ns = 0;
    std::uint64_t begin_ns = 0;
    std::uint32_t number = 0;
    bool is_softirq = false;
  };
  // The interrupts that overlap [from, to), in order; none is nested in another.
  void each_interrupt(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t to_ns,
                      const std::function<void(const Interrupt&)>& take) const;

  // The system call that the thread was in from `from` to `to`.
  std::optional<std::uint32_t> call_around(std::uint32_t tid, std::uint64_t from_ns,
                                           std::uint64_t to_ns) const;

  // When the target's threads had a CPU in [from, to). Threads of other processes are not recorded
  // when they switch among themselves.
  void each_occupant(std::int32_t cpu, std::uint64_t from_ns, std::uint64_t to_ns,
                     const std::function<void(std::uint32_t tid, std::uint64_t begin_ns,
                                              std::uint64_t end_ns)>& take) const;

  const SlotClock& slots() const { return slots_; }

  // The place where a unit waited: its queue is found by name (the place's, or that and more words
  // if its group is one of the ids), or by the threads at its two ends.
  struct WaitingPlace {
    std::string_view place;
    std::span<const std::uint64_t> ids;
    std::string_view from_thread;
    std::string_view to_thread;
  };
  // The largest sampled depth of the queue; none if several queues fit.
  std::optional<std::uint64_t> sampled_depth(const WaitingPlace& where, std::uint64_t from_ns,
                                             std::uint64_t to_ns) const;

 private:
  struct Syscall {
    std::uint64_t end_ns = 0;
    std::uint64_t begin_ns = 0;
    std::uint32_t number = 0;
  };
  struct Thread {
    std::deque<context::ThreadSpan> spans;
    std::deque<std::uint64_t> events;
    std::deque<Interrupt> interrupts;
    std::deque<Syscall> calls;
    std::deque<std::uint64_t> faults;
  };
  struct Occupant {
    std::uint64_t ts_ns = 0;  // from then on
    std::uint32_t tid = 0;    // 0: none of the target's
  };
  struct Sample {
    std::uint64_t ts_ns = 0;
    std::uint64_t depth = 0;
  };
  struct Queue {
    model::QueueInfo about;
    std::deque<Sample> samples;
  };
  struct Plan {
    bool of_packets = false;
    std::optional<std::uint8_t> slot;  // its field
  };

  Thread& thread_of_packet(std::uint32_t tid);
  void note(const model::EventView& event);
  void note_context(const model::EventView& event, std::int32_t cpu);
  void forget(std::uint64_t before_ns);
  template <typename Entry>
  void drop_front(std::deque<Entry>& entries, std::uint64_t before_ns);
  const Thread* find(std::uint32_t tid) const;
  static bool is_queue_of(const model::QueueInfo& about, const WaitingPlace& where);

  const TraceMetadata source_;
  const Limits limits_;
  const model::Pids pids_;
  context::ContextPoints points_;
  std::optional<std::size_t> irq_number_;
  std::optional<std::size_t> softirq_number_;
  std::optional<std::size_t> syscall_number_;
  bool knows_states_ = false;
  std::vector<Plan> plans_;  // by point
  std::unordered_map<std::uint32_t, std::int32_t> cpu_of_stream_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  Thread* last_ = nullptr;  // of them: whose event of a packet came last
  std::uint32_t last_tid_ = 0;
  std::unordered_map<std::uint64_t, Queue> queues_;
  std::unordered_map<std::int32_t, std::deque<Occupant>> cpus_;
  SlotClock slots_;
  std::uint64_t open_ns_ = 0;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t now_ns_ = 0;
  std::size_t entries_ = 0;
  context::ThreadStates states_;
};

}  // namespace sojourn::causes
