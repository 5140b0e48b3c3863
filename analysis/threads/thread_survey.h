// Surveys the threads of a program from its kernel context: how each of them spends its time, what
// ends its waits, which thread wakes which and through what, and the time from a packet that one of
// them receives to one that the same or another sends (docs/threads.md). It needs no points and no
// symbols; with points it also has the time from a wakeup to each. Memory grows with threads, with
// edges between them and with distributions (a million samples each), not with the trace. One
// thread owns a ThreadSurvey.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/context/thread_states.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/statistics/distribution.h"
#include "analysis/threads/activity_selection.h"
#include "analysis/threads/syscall_table.h"

namespace sojourn::threads {

// The event that ended a wait.
enum class WakeCause : std::uint8_t {
  kTimer,
  kNetwork,
  kThread,
  kInterrupt,  // of a timer or a device; it is not known which
  kUnknown,
};
constexpr std::size_t kWakeCauses = 5;
std::string_view name(WakeCause cause);  // timer network thread interrupt unknown

// The channel of a wait: the system call, and the object that it waited for.
struct WaitChannel {
  std::int64_t number = -1;  // -1: in none, as for a page, or calls were not recorded
  std::uint64_t at = 0;      // a futex's address, by 8 bytes; or the descriptor; or 0
  auto operator<=>(const WaitChannel&) const = default;
};

// The key of all waits of one thread with the same channel, cause and waker.
struct WakeupEdgeKey {
  WakeCause cause = WakeCause::kUnknown;
  std::uint32_t by = 0;   // the thread that ended them
  std::uint32_t tid = 0;  // the thread that waited
  WaitChannel channel;
  auto operator<=>(const WakeupEdgeKey&) const = default;
};

struct WakeupEdge {
  std::uint64_t count = 0;
  std::uint64_t waited_ns = 0;
  statistics::Distribution delay_ns;  // from being woken to running
};

// Packets through a descriptor, or expirations of a timer.
struct TrafficKey {
  std::uint32_t tid = 0;
  std::uint32_t number = 0;  // of the system call
  std::uint64_t descriptor = 0;
  auto operator<=>(const TrafficKey&) const = default;
};

struct Traffic {
  std::uint64_t calls = 0;   // calls that transferred something
  std::uint64_t empty = 0;   // calls that did not
  std::uint64_t amount = 0;  // bytes, or messages if the call counts those
};

struct ThreadActivity {
  std::uint64_t pid = 0;
  std::string name;
  std::uint64_t running_ns = 0;
  std::uint64_t runnable_ns = 0;
  std::uint64_t blocked_ns = 0;
  std::uint64_t unknown_ns = 0;
  std::array<std::uint64_t, kWakeCauses> wakes{};
  statistics::Distribution woken_ns;      // from being woken to running
  statistics::Distribution preempted_ns;  // from losing the CPU to having one again
  statistics::Distribution intervals_ns;  // between waits that a timer or an interrupt ended
  std::uint64_t calls = 0;
  std::uint64_t empty_calls = 0;  // calls that looked for work and found none
  std::uint64_t received = 0;     // calls that brought packets
  std::uint64_t sent = 0;

  std::uint64_t total_ns() const { return running_ns + runnable_ns + blocked_ns + unknown_ns; }
  std::uint64_t all_wakes() const;
};

// A path from a call that received packets to the next one that sent some, by the threads that woke
// each other in between.
struct PathKey {
  std::vector<std::uint32_t> tids;
  std::uint64_t in = 0;  // descriptors
  std::uint64_t out = 0;
  auto operator<=>(const PathKey&) const = default;
};

// The time from a thread's wakeup to its hit of a point of the target.
struct ReactionKey {
  std::uint32_t tid = 0;
  model::PointId point = 0;
  auto operator<=>(const ReactionKey&) const = default;
};

struct Futex {
  std::set<std::uint32_t> waiters;
  std::set<std::uint32_t> wakers;
  std::uint64_t waits = 0;
  std::uint64_t as_lock = 0;  // waits by the futex operations of the C library's locks

  // Returns whether threads alternate in waiting for it and waking each other, as for a mutex.
  bool is_lock() const;
  // Returns whether threads wait for it as for an item that is handed over.
  bool is_queue() const { return 2 * as_lock <= waits; }
};
using FutexKey = std::pair<std::uint64_t, std::uint64_t>;  // process and address

class ThreadSurvey {
 public:
  ThreadSurvey(const model::Schema& schema, const model::Context& context,
               const std::vector<model::Stream>& streams, const model::Capture& capture,
               const model::Pids& pids, ActivitySelection selection = {});
  ThreadSurvey(const ThreadSurvey&) = delete;
  ThreadSurvey& operator=(const ThreadSurvey&) = delete;

  void consume(const model::EventBatch& events);  // in time order
  void finish(std::uint64_t end_ns);

  bool knows_states() const { return knows_states_; }
  bool knows_calls() const { return knows_calls_; }
  const SyscallTable& calls() const { return calls_; }

  const std::map<std::uint32_t, ThreadActivity>& threads() const { return activities_; }  // by tid
  // Returns whether any activity of the thread is selected.
  bool is_selected(const ThreadActivity& activity) const {
    return !selection_.is_selective() ||
           activity.total_ns() + activity.all_wakes() + activity.calls != 0;
  }
  const std::map<WakeupEdgeKey, WakeupEdge>& edges() const { return edges_; }
  const std::map<TrafficKey, Traffic>& traffic() const { return traffic_; }
  const std::map<FutexKey, Futex>& futexes() const { return futexes_; }
  const std::map<PathKey, statistics::Distribution>& paths() const { return paths_; }
  // From being woken to the first hit of each point until the thread waits again.
  const std::map<ReactionKey, statistics::Distribution>& reactions() const { return reactions_; }
  const std::string& point_name(model::PointId point) const { return point_names_[point]; }
  // Packets that a thread sent to another one of the target, by sender and receiver. Among the
  // edges the waits that they ended belong to the network.
  const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& loopback() const {
    return loopback_;
  }
  // The number of edges and paths beyond those that are kept.
  std::uint64_t left_out() const { return left_out_; }

  // "mac", "thread 4243"; "the idle CPU" for 0.
  std::string thread_name(std::uint32_t tid) const;

 private:
  // The input that a thread works on, as far as it is known.
  struct Input {
    bool is_known = false;
    bool is_sent = false;
    std::uint64_t since_ns = 0;  // it was received
    std::uint64_t descriptor = 0;
    std::vector<std::uint32_t> tids;
  };
  struct Wait {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::int32_t cpu = -1;  // its previous CPU
    std::uint32_t by = 0;
    context::Waker waker = context::Waker::kUnknown;
    std::optional<std::uint64_t> delay_ns;
    Input handed;  // its waker's input
  };
  struct Thread {
    std::vector<Wait> waits;  // waits whose system call is not known yet
    Input input;
    std::uint64_t last_tick_ns = 0;
    std::uint64_t woken_ns = 0;           // 0: not yet
    std::vector<model::PointId> reacted;  // points that it hit since
    // The threads that it woke by sending packets since its last system call, and when.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> sent_to;
  };

  bool selects(std::uint32_t tid, std::int32_t cpu, std::uint64_t ts_ns) const {
    return !selection_.is_selective() || selection_.wants(tid, cpu, ts_ns);
  }
  void take(const context::ThreadSpan& span);
  void on_blocked(const context::ThreadSpan& span);
  void on_call(const model::EventView& event, bool is_selected);
  std::optional<Syscall> read_call(const model::EventView& event) const;
  void settle_all(std::uint32_t tid, const Syscall* call);
  void settle(std::uint32_t tid, const Wait& wait, const Syscall* call);
  void note_futex(std::uint32_t tid, const Wait& wait, const Syscall& call, WakeCause cause);
  WakeCause cause_of(const Wait& wait, const Syscall* call) const;
  WaitChannel wait_channel_of(const Syscall* call) const;
  void hand_over(std::uint32_t tid, const Wait& wait, const Syscall* call, WakeCause cause);
  void note_hit(const model::EventView& event, bool is_selected);
  void count_traffic(std::uint32_t tid, const Syscall& call);
  void note_traffic(std::uint32_t tid, const Syscall& call, bool is_selected);
  ThreadActivity& activity(std::uint32_t tid);

  SyscallTable calls_;
  context::ContextPoints points_;
  std::optional<std::size_t> number_field_, result_field_, arg0_field_, op_field_;
  model::Pids pids_;
  ActivitySelection selection_;
  std::uint64_t open_ns_;
  bool knows_states_ = false;
  bool knows_calls_ = false;
  bool is_ending_ = false;
  std::uint64_t left_out_ = 0;
  std::unordered_map<std::uint32_t, std::int32_t> cpu_of_stream_;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::string>> names_;  // process and name
  std::map<std::uint32_t, ThreadActivity> activities_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::map<WakeupEdgeKey, WakeupEdge> edges_;
  std::map<TrafficKey, Traffic> traffic_;
  std::map<FutexKey, Futex> futexes_;
  std::vector<std::string> point_names_;  // empty: not the target's
  std::map<ReactionKey, statistics::Distribution> reactions_;
  std::map<PathKey, statistics::Distribution> paths_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> loopback_;
  context::ThreadStates states_;
};

}  // namespace sojourn::threads
