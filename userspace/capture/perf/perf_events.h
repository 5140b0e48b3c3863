// The perf events of all threads of a process: each kind for each thread on each CPU, so that the
// samples of a CPU go to one ring, and new threads have events from their first instruction on.
// Destroying it closes them all. One thread owns PerfEvents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/perf/perf_open.h"
#include "userspace/capture/perf/perf_record.h"
#include "userspace/capture/perf/perf_ring.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class PerfEvents {
 public:
  struct Cpu {
    int number = 0;
    PerfRing ring;
  };

  // Opens the events, which count from now on.
  static Result<PerfEvents> open(const tracee::Process& process, std::span<const PerfRequest> kinds,
                                 std::size_t ring_bytes);

  std::vector<Cpu>& cpus() { return cpus_; }
  const std::vector<Cpu>& cpus() const { return cpus_; }
  bool is_open() const { return !events_.empty(); }

  // The kind of a sample. Nothing if the sample must not be counted: it belongs to another process,
  // or is the second of two of the same kind.
  struct Kind {
    std::size_t index = 0;
    bool is_known = false;
  };
  Kind kind_of(const PerfSample& sample) const;
  void forget_thread(std::uint32_t tid) { opened_.erase(tid); }

  // Stops all events: when this returns no sample is being written any more.
  void stop();

  // Samples that found no room, by CPU, then by kind. Empty if the kernel does not say.
  std::vector<std::vector<std::uint64_t>> lost() const;

  void close();  // the rings stay

 private:
  struct Event {
    base::Fd fd;
    std::size_t cpu = 0;  // index into cpus_
    std::size_t kind = 0;
  };
  struct Owner {
    std::size_t kind = 0;
    std::uint32_t tid = 0;
  };

  explicit PerfEvents(const tracee::Process& process) : process_(&process) {}
  Result<void> open_threads(std::span<const PerfRequest> kinds, std::size_t ring_bytes);
  Result<bool> open_thread(std::uint32_t tid, std::span<const PerfRequest> kinds,
                           std::size_t ring_bytes);
  Result<void> add(base::Fd event, int cpu, std::size_t kind, std::uint32_t tid,
                   std::size_t ring_bytes);
  Error explain(int code, std::size_t events) const;

  const tracee::Process* process_;
  std::size_t kinds_ = 0;
  std::vector<Event> events_;
  std::vector<Cpu> cpus_;
  std::vector<std::size_t> anchors_;                 // by CPU: the event whose ring it is
  std::unordered_map<std::uint64_t, Owner> owners_;  // by the event's id
  std::unordered_set<std::uint32_t> opened_;         // threads that have events of their own
};

}  // namespace sojourn::capture
