// The total times of each of the target's threads by state, which `sojourn report` shows of a
// trace's kernel context. One thread owns a ThreadTimes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/context/thread_states.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::context {

struct ThreadTime {
  std::string name;
  std::uint64_t running_ns = 0;  // without interrupts, where they are known
  std::uint64_t runnable_ns = 0;
  std::uint64_t blocked_ns = 0;
  std::uint64_t interrupted_ns = 0;
  std::uint64_t unknown_ns = 0;  // the events that would show the state were lost
  std::uint64_t switches = 0;    // it left a CPU
  std::uint64_t preempted = 0;   // of those, times at which it still wanted the CPU
  std::uint64_t wakeups = 0;
  std::uint64_t migrations = 0;
  std::uint64_t syscalls = 0;
  std::uint64_t faults = 0;

  std::uint64_t total_ns() const {
    return running_ns + runnable_ns + blocked_ns + interrupted_ns + unknown_ns;
  }
};

class ThreadTimes {
 public:
  ThreadTimes(const model::Schema& schema, const model::Context& context,
              const std::vector<model::Stream>& streams, const model::Capture& capture,
              const model::Pids& pids);
  ThreadTimes(const ThreadTimes&) = delete;
  ThreadTimes& operator=(const ThreadTimes&) = delete;

  void consume(const model::EventBatch& events);  // in time order
  void finish(std::uint64_t end_ns);

  const std::map<std::uint32_t, ThreadTime>& threads() const { return threads_; }  // by tid
  const std::vector<model::ContextFamily>& families() const { return families_; }
  bool has(std::string_view family) const;

 private:
  void count(const model::EventView& event);

  ContextPoints points_;
  model::Pids pids_;
  std::uint64_t open_ns_;
  std::vector<model::ContextFamily> families_;
  std::unordered_map<std::uint32_t, std::int32_t> cpu_of_stream_;
  std::map<std::uint32_t, ThreadTime> threads_;
  ThreadStates states_;
};

}  // namespace sojourn::context
