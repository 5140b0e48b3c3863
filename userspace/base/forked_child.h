// Work that is done in a forked child of this process, because it puts probes on the process that
// does it, or may end it. The child answers with one plain value, or with a text. Where this
// process has other threads, the work takes no lock that one of them may have held, but malloc's.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/result.h"
#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"

namespace sojourn::base {

// How a child ended that did not answer.
inline Error child_error(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return Error(fmt::format("it was killed by SIG{}", name != nullptr ? name : "?"));
  }
  return Error("it ended without an answer");
}

// Reads a value of that size, or nothing when the other end closed before or time is up.
inline bool read_answer(int fd, void* into, std::size_t bytes, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
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

// Runs `work(descriptor to write to)`, which says whether it wrote all, in a child, and
// `take(descriptor to read from)`, which says whether it got all, here. A child whose answer was
// not taken is killed.
template <typename Work, typename Take>
Result<void> talk_with_child(Work work, Take take) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT}) ::signal(signal, SIG_DFL);
    reading = Fd();  // a parent that gives up is seen
    bool is_done = false;
    try {
      is_done = work(writing.get());
    } catch (...) {
      _exit(1);
    }
    _exit(is_done ? 0 : 1);  // the kernel removes its probes
  }
  writing = Fd();
  const bool is_taken = take(reading.get());
  if (!is_taken) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!is_taken) return std::unexpected(child_error(status));
  return {};
}

// `work` returns Result<Answer> in the child. A child that has not answered in time is killed: on a
// machine whose processors are wanted by thirty others one that does a second of work takes over
// five.
template <typename Answer, typename Work>
Result<Answer> run_in_child(Work work,
                            std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
  static_assert(std::is_trivially_copyable_v<Answer>);
  struct Written {
    Answer answer;
    bool is_error;
    char error[512];
  };
  const auto answer = [&](int fd) {
    Written message{};
    Result<Answer> result = work();
    message.is_error = !result;
    if (result)
      message.answer = *result;
    else
      result.error().text().copy(message.error, sizeof(message.error) - 1);
    return write(fd, &message, sizeof(message)) == sizeof(message);
  };
  Written message{};
  SJ_CHECK(talk_with_child(
      answer, [&](int fd) { return read_answer(fd, &message, sizeof(message), timeout); }));
  if (message.is_error) return fail("{}", message.error);
  return message.answer;
}

// `work` returns a std::string in the child, of at most `max_bytes`.
template <typename Work>
Result<std::string> text_from_child(Work work, std::size_t max_bytes,
                                    std::chrono::milliseconds timeout) {
  const auto answer = [&](int fd) {
    const std::string text = work();
    const std::size_t bytes = text.size();
    std::string message(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    message += text;
    for (std::size_t done = 0; done < message.size();) {
      const ssize_t wrote = write(fd, message.data() + done, message.size() - done);
      if (wrote <= 0) return false;
      done += static_cast<std::size_t>(wrote);
    }
    return true;
  };
  std::string text;
  SJ_CHECK(talk_with_child(answer, [&](int fd) {
    std::size_t bytes = 0;
    if (!read_answer(fd, &bytes, sizeof(bytes), timeout) || bytes > max_bytes) return false;
    text.resize(bytes);
    return read_answer(fd, text.data(), bytes, timeout);
  }));
  return text;
}

}  // namespace sojourn::base
