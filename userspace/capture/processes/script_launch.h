// Handles commands that have no points themselves, such as scripts. Programs that they execute, and
// with --follow those that they start, join the capture. Their rings record from the first
// instruction on, because the command passes its environment on. Rings without a reader are
// switched off here. It does nothing in other captures. The capture's thread owns it; the objects
// that it refers to must outlive it.
#pragma once

#include <cstdint>
#include <set>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/capture/processes/family_follower.h"
#include "userspace/capture/processes/late_joiners.h"
#include "userspace/capture/processes/process_news.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/rings/ring_directory.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/source_set.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class ScriptLaunch final : public Ticker {
 public:
  ScriptLaunch(const Options& options, TracedProcesses& processes, SourceSet& sources,
               CaptureRecord& record, LateJoiners& joiners, FamilyFollower& family,
               ProcessNews& news);

  Result<void> tick(const Listener& listener) override;

  // Returns whether a process that is recorded, or may be, still runs after the end of the command:
  // a script leaves behind the programs that it has started.
  Result<bool> goes_on(const Listener& listener);

  // Called when the capture ends: rings that were not read until now were missed.
  void finish(const Listener& listener);

 private:
  void look_at_unread_rings(const Listener& listener, bool is_end);
  void note_missed(const ArenaFile& file, const Listener& listener);

  const Options* options_;
  TracedProcesses* processes_;
  SourceSet* sources_;
  CaptureRecord* record_;
  LateJoiners* joiners_;
  FamilyFollower* family_;
  ProcessNews* news_;
  std::uint64_t next_look_ns_ = 0;
  std::set<pid_t> missed_;  // processes that ended before their rings were found
};

}  // namespace sojourn::capture
