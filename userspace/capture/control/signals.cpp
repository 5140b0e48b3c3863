#include "userspace/capture/control/signals.h"

#include <csignal>
#include <cstring>

#include <fmt/core.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace sojourn::capture {

int read_signal(int signals) {
  signalfd_siginfo info{};
  return read(signals, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo)
                                                            : SIGINT;
}

std::string words_for(int signal) {
  const char* const short_name = sigabbrev_np(signal);
  return signal == SIGINT ? "interrupt"
                          : fmt::format("SIG{}", short_name != nullptr ? short_name : "?");
}

}  // namespace sojourn::capture
