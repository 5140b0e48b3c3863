// The second process or thread of a measurement, on a CPU of its own. A child process ends with
// this process, also when this process is killed. The creator owns it.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/host/placement.h"

namespace sojourn::host {

class PartnerProcess {
 public:
  // `work` runs in the child. The caller owns the descriptor or flag that makes `work` return.
  PartnerProcess(std::uint32_t cpu, const std::function<void()>& work) {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    Placement::pin(cpu);
    work();
    _exit(0);
  }
  PartnerProcess(const PartnerProcess&) = delete;
  PartnerProcess& operator=(const PartnerProcess&) = delete;
  ~PartnerProcess() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  bool is_there() const { return pid_ > 0; }

 private:
  pid_t pid_ = -1;
};

// `work` must return when the caller tells it to stop: the destructor waits for it.
class PartnerThread {
 public:
  PartnerThread(std::uint32_t cpu, std::function<void()> work)
      : thread_([cpu, work = std::move(work)] {
          Placement::pin(cpu);
          work();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace sojourn::host
