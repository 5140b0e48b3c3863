// Work that is done in a forked child of this process, because it puts probes on the process that
// does it, or may end it. The child answers with one plain value. To be called while this process
// has one thread.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <type_traits>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::capture {

// How a child ended that did not answer.
inline Error child_error(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return Error(fmt::format("it was killed by SIG{}", name != nullptr ? name : "?"));
  }
  return Error("it ended without an answer");
}

// Reads a value of that size, or nothing when the other end closed before or time is up.
inline bool read_answer(int fd, void* into, std::size_t bytes, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (std::size_t done = 0; done < bytes;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&watched, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t got = read(fd, static_cast<std::byte*>(into) + done, bytes - done);
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

// `work` returns Result<Answer> in the child. A child that has not answered in time is killed.
template <typename Answer, typename Work>
Result<Answer> in_own_child(Work work,
                            std::chrono::milliseconds patience = std::chrono::seconds(5)) {
  static_assert(std::is_trivially_copyable_v<Answer>);
  struct Message {
    Answer answer;
    bool is_error;
    char error[512];
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  base::Fd reading(ends[0]);
  base::Fd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT}) ::signal(signal, SIG_DFL);
    Message message{};
    try {
      Result<Answer> result = work();
      message.is_error = !result;
      if (result)
        message.answer = *result;
      else
        result.error().text().copy(message.error, sizeof(message.error) - 1);
    } catch (...) {
      _exit(1);
    }
    const ssize_t wrote = write(writing.get(), &message, sizeof(message));
    _exit(wrote == sizeof(message) ? 0 : 1);  // the kernel removes its probes
  }
  writing = base::Fd();
  Message message{};
  const bool answered = read_answer(reading.get(), &message, sizeof(message), patience);
  if (!answered) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answered) return std::unexpected(child_error(status));
  if (message.is_error) return fail("{}", message.error);
  return message.answer;
}

}  // namespace sojourn::capture
