// Attaches to code that the recorded processes load while the capture runs: libraries, and other
// programs (exec). Its points count from an instant that is written down; the span before it is
// recorded as unarmed. A thread of its own reads a process's files, because that may take seconds.
// Everything else runs on the capture's thread, which owns it. The objects that it refers to must
// outlive it.
#pragma once

#include <cstdint>
#include <set>

#include "analysis/base/result.h"
#include "userspace/capture/processes/point_finder.h"
#include "userspace/capture/processes/process_recorder.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class CodeFollower final : public Ticker {
 public:
  CodeFollower(const Options& options, TracedProcesses& processes, ProcessRecorder& recorder,
               SourceSet& sources, CaptureRecord& record, CaptureOutput& output,
               PointFinder& finder);

  Result<void> tick(const Listener& listener) override;

  // The process has become another program: it loads its libraries and makes its rings within the
  // next moments.
  void follow_exec(TracedProcess& process, std::uint64_t exec_ns);

 private:
  bool waits_for_program() const;
  void look_for_new_rings(TracedProcess& process);
  void begin_finding(TracedProcess& process);
  Result<void> take_found(TracedProcess& process, const Listener& listener);
  void add_code(TracedProcess& process, tracee::Points& fresh, const Listener& listener);
  void give_up(TracedProcess& process, const Error& why, const Listener& listener);
  void tell_of(const TracedProcess& process, const tracee::Points& fresh, bool is_whole,
               const Listener& listener) const;
  bool try_again(TracedProcess& process);
  void note_program(TracedProcess& process, std::uint64_t since_ns);

  const Options* options_;
  TracedProcesses* processes_;
  ProcessRecorder* recorder_;
  SourceSet* sources_;
  CaptureRecord* record_;
  CaptureOutput* output_;
  PointFinder* finder_;
  std::uint64_t next_look_ns_ = 0;
  std::uint64_t last_look_ns_ = 0;
  std::uint64_t often_until_ns_ = 0;  // a program has just begun
};

}  // namespace sojourn::capture
