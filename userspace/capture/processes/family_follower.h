// Attaches to the forked children of a capture's processes (--follow), each as soon as it is
// reported. The span before that is recorded as unarmed: no process waits for the tracer. It also
// learns when a process becomes another program. The capture's thread owns it; what it refers to
// outlives it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/capture/bpf/family_watch.h"
#include "userspace/capture/processes/code_follower.h"
#include "userspace/capture/processes/late_joiners.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class FamilyFollower final : public Ticker, public ProcessObserver {
 public:
  FamilyFollower(const Options& options, TracedProcesses& processes, ProcessRecorder& recorder,
                 SourceSet& sources, CaptureRecord& record, CaptureOutput& output,
                 LateJoiners& joiners, CodeFollower& code, ProcessNews& news);

  // Watches the processes that the capture begins with, if forks are to be reported.
  Result<void> start();
  const std::string& why_only_looks() const { return why_only_looks_; }
  // Returns whether every fork is reported with its time. If not, /proc is polled for children.
  bool sees_every_fork() const { return watch_ && why_only_looks_.empty(); }
  int fd() const { return watch_ ? watch_->fd() : -1; }  // readable: tick() has something to do

  // Notes a process whose events the rings hold, but whose fork was not reported.
  void meet(pid_t pid) { met_.push_back(pid); }
  // Writes such processes to the trace, unless more became known of them.
  void note_met();

  Result<void> tick(const Listener& listener) override;
  Result<void> on_joined(const TracedProcess& process) override;
  void on_ended(const TracedProcess& process) override;

  // Returns whether some children are not examined yet, or have nothing to record so far.
  bool has_candidates() const { return !children_.empty() || !plain_.empty(); }
  void forget_plain_if(const std::function<bool(pid_t)>& is_gone);
  // Examines children without points again.
  void look_at_plain_again();

 private:
  // A forked child that is to be looked at.
  struct Child {
    FamilyEvent event;
    std::uint64_t not_before_ns = 0;
    unsigned tries = 0;
  };

  Result<void> take(const FamilyEvent& event, const Listener& listener);
  void take_fork(const FamilyEvent& event);
  void take_exec(const FamilyEvent& event);
  Result<void> take_end(const FamilyEvent& event, const Listener& listener);
  Result<void> look_at_child(Child child, const Listener& listener);
  std::optional<tracee::Points> points_like(const TracedProcess& parent,
                                            const tracee::Process& child) const;
  void note_brief(const FamilyEvent& child, std::uint64_t until_ns, const Listener& listener);

  const Options* options_;
  TracedProcesses* processes_;
  ProcessRecorder* recorder_;
  SourceSet* sources_;
  CaptureRecord* record_;
  CaptureOutput* output_;
  LateJoiners* joiners_;
  CodeFollower* code_;
  ProcessNews* news_;
  std::optional<FamilyWatch> watch_;
  std::string why_only_looks_;
  std::deque<Child> children_;
  std::map<pid_t, FamilyEvent> plain_;  // children in which there is nothing to record, so far
  std::vector<pid_t> met_;
  bool awaits_command_;  // the command that the capture starts has not executed its program yet
};

}  // namespace sojourn::capture
