// Commands that have no points themselves, such as scripts: what they execute, and with --follow
// what they start, joins as it comes. Rings record there from the first instruction on, by the
// environment that the command passes on; those that nobody will read are switched off here. It
// does nothing in other captures. The capture's thread owns it; what it is made of outlives it.
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

  // Whether something runs that is, or may come to be, recorded, though a process has just ended:
  // a script that ends leaves behind what it has started.
  Result<bool> goes_on(const Listener& listener);

  // The capture ends: rings that nobody has read until now were missed.
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
  std::set<pid_t> missed_;  // that ended before their rings were found
};

}  // namespace sojourn::capture
