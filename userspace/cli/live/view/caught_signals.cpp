#include "userspace/cli/live/view/caught_signals.h"

#include <csignal>

#include <sys/signalfd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::cli {

Result<base::Fd> catch_signals(std::initializer_list<int> wanted) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : wanted) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  base::Fd fd(signalfd(-1, &signals, SFD_CLOEXEC));
  if (!fd) return fail_errno("watch for signals");
  return fd;
}

}  // namespace sojourn::cli
