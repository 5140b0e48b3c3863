// The state of a RingEngine, which two sources implement: ring_scan.cpp finds and adds the arenas,
// ring_engine.cpp sets the marks, polls and settles.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "userspace/capture/rings/arena_match.h"
#include "userspace/capture/rings/ring_engine.h"
#include "userspace/capture/rings/ring_threads.h"

namespace sojourn::capture {

struct RingEngine::State {
  State(const tracee::Process& of, tracee::Points now, const RingOptions& how);

  // The process that was attached to, and those of its family that are recorded with it.
  struct Owner {
    explicit Owner(const tracee::Process& of) : process(&of), threads(of) {}
    const tracee::Process* process;
    RingThreads threads;
  };
  static std::uint32_t pid_of(std::uint64_t thread) {
    return static_cast<std::uint32_t>(thread >> 32);
  }
  Owner* owner(std::uint32_t pid);  // by the pid in its own namespace; null: not recorded
  const tracee::Process& process() const { return *owners.front().process; }

  std::deque<Owner> owners;
  tracee::Points points;  // grows with libraries that come later
  RingOptions options;
  CounterCorrector corrector;
  CounterPair first_pair;
  RingClock clock;
  RingShared shared;
  // The CPUs of threads before their points were armed, by thread id in this namespace.
  std::map<std::uint32_t, CpuLook> looks_before;
  CaptureOutput* output = nullptr;
  std::vector<std::unique_ptr<RingModule>> modules;
  std::map<std::size_t, const RingModule*> arena_of;  // by file, among the points'
  struct Flag {
    model::PointId point;
    std::size_t module;
    std::size_t flag;
  };
  std::vector<Flag> flags;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known;  // arenas, by device and inode
  bool armed = false;
  bool has_left = false;
  std::uint64_t close_ns = UINT64_MAX;  // still to be set; 0: set already
  std::uint64_t next_life_ns = 0;
  std::uint64_t next_scan_ns = 0;
  std::uint64_t scan_often_until_ns = 0;
  std::uint64_t blind_since_ns =
      0;  // since when its processes could not be looked into; 0: they can be
  std::vector<std::string> left_out;  // rings of libraries that came later, and why
  std::chrono::microseconds period{1000};
  std::uint64_t error_before_ns = 0;  // of times before the first reading of the clocks

  // The reaction to rings that cannot be read although their process is alive.
  enum class Unfit : std::uint8_t { kFail, kLeaveOut };
  Result<void> scan(Unfit unfit = Unfit::kFail);
  Result<void> scan(const tracee::Process& process, Unfit unfit);
  Result<void> scan_left();
  Result<bool> add_arena(const tracee::Process& process, const FoundArena& found);
  Result<void> add_arena(const tracee::Process& process, Arena arena);
  Result<ArenaMatch> match(const tracee::Process& process, const Arena& arena);
  Result<void> learn(tracee::Points fresh);
  Result<model::PointId> number(const model::Point& point);
  const RingModule* arena_like(const tracee::MappedFile& file) const;
  std::uint64_t earliest_stamp() const;
  void note_time_before(std::uint64_t monotonic_ns, const CounterPair& now);
  bool is_complete() const;
  CounterPair read_pair() const { return corrector.corrected(read_counter_pair()); }
  void look_at_cpus(const tracee::Process& process);
  void poll_processes(std::uint64_t now_ns);
  void set_marks();
};

}  // namespace sojourn::capture
