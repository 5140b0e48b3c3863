// Admits processes that come while a capture runs: it looks for those of the capture's control
// group, and admits those that FamilyFollower finds. Each counts from an instant that is written
// down, and the span before it is recorded as unarmed: a process that just begins is neither
// stopped nor waited for. The capture's thread owns it; what it refers to outlives it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/capture/processes/point_finder.h"
#include "userspace/capture/processes/process_news.h"
#include "userspace/capture/processes/process_recorder.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/ticker.h"
#include "userspace/tracee/cgroup.h"

namespace sojourn::capture {

// The known facts about a process that may join.
struct Newcomer {
  std::uint64_t from_ns = 0;                  // the process did not exist before
  pid_t parent = 0;                           // the parent, if children are followed
  std::optional<tracee::Points> points = {};  // its points, if they are known
  bool is_last_try = true;                    // it is not expected to become ready later
};

enum class Admission : std::uint8_t {
  kJoined,  // or it never will, which was reported
  kNothingToRecord,
  kTryLater,  // it has just begun, and may not be ready
};

class LateJoiners final : public Ticker {
 public:
  LateJoiners(const Options& options, TracedProcesses& processes, ProcessRecorder& recorder,
              SourceSet& sources, CaptureRecord& record, CaptureOutput& output, PointFinder& finder,
              ProcessNews& news);

  // Looks for processes of the control group.
  Result<void> tick(const Listener& listener) override;

  // Moves from `process` only if it joins. A process that ends meanwhile is not reported.
  Result<Admission> admit(tracee::Process& process, Newcomer newcomer, const Listener& listener);

  // Returns whether the process could not be recorded, and is not tried again.
  bool has_refused(pid_t pid) const { return refused_.contains(pid); }

 private:
  // A process of the control group that has nothing to record so far.
  struct Bystander {
    tracee::Process process;
    tracee::CodeWatch code;
    std::uint64_t next_ns = 0;
    unsigned tries = 0;
  };
  using Bystanders = std::vector<Bystander>;

  Result<void> look_for_processes(const Listener& listener);
  Bystanders::iterator bystander(pid_t pid);
  Admission refuse(tracee::Process& process, const TracedProcess& joiner, bool is_known_to_others,
                   const Newcomer& newcomer, const std::string& why, const Listener& listener);
  void note_beginning(TracedProcess& process, std::uint64_t from_ns, std::uint64_t since_ns);
  void tell_of(const TracedProcess& process, const Listener& listener);

  const Options* options_;
  TracedProcesses* processes_;
  ProcessRecorder* recorder_;
  SourceSet* sources_;
  CaptureRecord* record_;
  CaptureOutput* output_;
  PointFinder* finder_;
  ProcessNews* news_;
  std::optional<tracee::Cgroup> cgroup_;
  Bystanders bystanders_;
  std::set<pid_t> refused_;
  std::uint64_t next_look_ns_ = 0;
  std::uint64_t last_look_ns_ = 0;
};

}  // namespace sojourn::capture
