// Computes how much of the time between two events was tracing: the traps that the packet's own
// thread ran meanwhile, or that a busy thread ran while the packet waited for it
// (docs/tracing-cost.md has the model and its error). It sees all events in time order, each before
// it is queried, and remembers those of the last seconds of each thread. Its results depend on the
// events alone. One thread owns a TracingCost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/context/thread_states.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::report {

class TracingCost {
 public:
  // A thread without a hit for this long may have waited for something, so its earlier hits delay
  // nothing any more. If the trace has the scheduler's events, those decide instead.
  static constexpr std::uint64_t kPauseNs = 100'000;
  static constexpr std::uint64_t kKeptNs = 3'000'000'000;
  static constexpr std::size_t kMaxKept = 1 << 17;  // of a thread, and those of a batch

  TracingCost() = default;  // of a trace without costs of hits
  TracingCost(const model::Schema& schema, const model::Capture& capture);
  TracingCost(TracingCost&&) = default;
  TracingCost& operator=(TracingCost&&) = default;
  ~TracingCost() = default;

  // Returns a new one with the same costs and without events.
  TracingCost anew() const;

  bool is_known() const { return !cost_ps_.empty(); }

  void consume(const model::EventBatch& events);

  // Two events of a unit.
  struct Passage {
    std::uint64_t entered_ns = 0;
    std::uint64_t left_ns = 0;
    std::uint32_t entered_by = 0;  // threads
    std::uint32_t left_by = 0;
  };
  // The result is at most the passage's time.
  std::uint64_t inside_ns(const Passage& passage);

  // The number of passages that began before the oldest remembered event.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  struct Hit {
    std::uint64_t ts_ns = 0;
    std::uint64_t before_ps = 0;     // the time of its thread's hits before this one
    std::uint64_t busy_from_ns = 0;  // the first hit since the thread waited
  };
  struct Thread {
    std::vector<Hit> hits;
    std::size_t first = 0;  // of the hits that count
    std::uint64_t spent_ps = 0;
    bool has_waited = true;
    bool has_forgotten = false;
  };

  void add(Thread& thread, std::uint64_t ts_ns, std::uint64_t cost_ps) const;
  static void forget(Thread& thread, std::uint64_t now_ns);
  void note_wait(std::uint32_t tid);
  Thread& thread_of(std::uint32_t tid);
  const Thread* find(std::uint32_t tid) const;
  static std::size_t first_from(const Thread& thread, std::uint64_t ts_ns);
  std::uint64_t own_ps(std::uint32_t tid, std::uint64_t ts_ns) const;

  std::vector<std::uint64_t> cost_ps_;  // by point
  std::optional<context::ContextPoints::Place> on_switch_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  Thread* last_ = nullptr;  // of them: the thread of the last hit
  std::uint32_t last_tid_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace sojourn::report
