#include "userspace/cli/live/record/slow_step_notice.h"

#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/capture/api.h"
#include "userspace/cli/tell.h"

namespace sojourn::cli {

SlowStepNotice::SlowStepNotice(std::string step, bool is_quiet, std::chrono::milliseconds patience)
    : step_(std::move(step)), patience_(patience), begin_(std::chrono::steady_clock::now()) {
  if (is_quiet) return;
  child_ = fork();
  if (child_ != 0) return;  // if the fork failed nothing is printed
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!capture::give_up_rights()) _exit(1);
  std::this_thread::sleep_for(patience_);
  tell("still {}\n", step_);
  _exit(0);
}

SlowStepNotice::~SlowStepNotice() {
  if (child_ < 0) return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
  if (took >= patience_) tell("{} took {:.1f} s\n", step_, took.count());
}

}  // namespace sojourn::cli
