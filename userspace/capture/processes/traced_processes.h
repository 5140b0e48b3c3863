// The processes of a capture: those that it began with, and those that have joined it. Parts that
// need to know when one joins or ends observe the list. The capture's thread owns it, and observers
// are called on that thread only; the processes outlive all sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/output/thread_names.h"
#include "userspace/capture/processes/traced_process.h"

namespace sojourn::capture {

class ProcessObserver {
 public:
  ProcessObserver() = default;
  ProcessObserver(const ProcessObserver&) = delete;
  ProcessObserver& operator=(const ProcessObserver&) = delete;
  virtual ~ProcessObserver() = default;

  virtual Result<void> on_joined(const TracedProcess& process) {
    (void)process;
    return {};
  }
  virtual void on_ended(const TracedProcess& process) { (void)process; }
  // Called when a process that joined, or code that one has loaded, brought points that have costs.
  virtual void on_new_points(const Listener& listener) { (void)listener; }
};

class TracedProcesses {
 public:
  using List = std::vector<std::unique_ptr<TracedProcess>>;

  // Observers outlive every call that changes the list.
  void observe(ProcessObserver& observer) { observers_.push_back(&observer); }

  // take_last() takes back the process that was added last, if it does not join after all.
  TracedProcess& add(Subject subject);
  tracee::Process take_last();
  // Removes all for which `is_done`; their CPU time stays counted.
  template <typename IsDone>
  void forget_if(const IsDone& is_done);

  Result<void> tell_joined(const TracedProcess& process);
  void tell_new_points(const Listener& listener);
  void end(TracedProcess& process);

  const List& all() const { return list_; }
  TracedProcess& first() const { return *list_.front(); }
  TracedProcess* find(pid_t pid) const;  // a process that has not ended, or null
  bool any_alive() const;
  std::size_t alive() const;

  // CPU times count from the open mark, or from when a process joined.
  void begin_cpu_times();
  static void begin_cpu_time(TracedProcess& process);
  std::uint64_t cpu_ns();

  // Writes the names of their threads to the trace.
  void name_threads(CaptureOutput& output, ThreadNames::Look what) const;

 private:
  static std::uint64_t cpu_ns_of(const TracedProcess& process);

  List list_;
  std::vector<ProcessObserver*> observers_;
  std::uint64_t past_cpu_ns_ = 0;  // of processes that were removed
};

template <typename IsDone>
void TracedProcesses::forget_if(const IsDone& is_done) {
  std::erase_if(list_, [&](const std::unique_ptr<TracedProcess>& one) {
    if (!is_done(*one)) return false;
    past_cpu_ns_ += cpu_ns_of(*one);
    return true;
  });
}

}  // namespace sojourn::capture
