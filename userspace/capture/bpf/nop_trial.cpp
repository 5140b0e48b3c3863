#include "userspace/capture/bpf/nop_trial.h"

#include <utility>
#include <vector>

#include <unistd.h>

#include "userspace/base/forked_child.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/trial_sites.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kTrialRingBytes = 64 * 1024;

// An instruction that is stepped over is executed elsewhere: in a page that the kernel maps when it
// needs one for the first time.
Result<bool> runs_without_page(Mechanism mechanism) {
  std::vector<Trial> trials;
  for (const unsigned bytes : {3U, 8U}) {
    const TrialSite* const nop = long_nop(bytes);
    if (nop == nullptr) return false;
    trials.push_back({.site = nop->site, .arguments = {}});
  }
  SJ_TRY(points, trial_points(trials));
  SJ_TRY(programs, BpfPrograms::load(points, getpid(), mechanism, kTrialRingBytes));
  SJ_TRY(attachment, Attachment::attach(points, getpid(), mechanism, programs));
  (void)attachment;
  for (const unsigned bytes : {3U, 8U}) long_nop(bytes)->run(1);
  SJ_TRY(maps, tracee::read_whole("/proc/self/maps"));
  return !maps.contains("[uprobes]\n");
}

}  // namespace

bool emulates_long_nops(Mechanism mechanism) {
  return base::run_in_child<bool>([&] { return runs_without_page(mechanism); }).value_or(false);
}

}  // namespace sojourn::capture
