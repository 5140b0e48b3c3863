// Who plays along while something is measured: a forked child or a thread, on the CPU that it is
// put on. A child ends with this process, however that ends. Owned by whoever made it.
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
  // `work` runs in the child. Whatever tells it to return belongs to the caller.
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

// `work` has to return once the caller has told it to: the end of this object waits for it.
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
