// Runs work in a forked child, because the work puts probes on its own process or may end it. The
// child answers with one plain value or with a text. If this process has other threads, the work
// may take no lock that one of them may hold, except malloc's.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
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

// Describes how a child ended that did not answer.
inline Error child_error(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return Error(fmt::format("it was killed by SIG{}", name != nullptr ? name : "?"));
  }
  return Error("it ended without an answer");
}

// Reads a value of that size. Fails if the other end closed before that, or the time ran out.
// `left()` returns how long to wait until it is called again, and 0 at the end.
template <typename Left>
bool read_while(int fd, void* into, std::size_t bytes, Left left) {
  for (std::size_t done = 0; done < bytes;) {
    const std::chrono::milliseconds longest = left();
    if (longest.count() <= 0) return false;
    pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&watched, 1, static_cast<int>(longest.count()));
    if (ready == 0) continue;
    if (ready < 0) return false;
    const ssize_t got = read(fd, static_cast<std::byte*>(into) + done, bytes - done);
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

// Reads a value, and waits for the timeout at most.
inline bool read_answer(int fd, void* into, std::size_t bytes, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  return read_while(fd, into, bytes, [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(end -
                                                                 std::chrono::steady_clock::now());
  });
}

// The processor time that all threads of a process have taken; none if the process has ended.
inline std::optional<std::chrono::nanoseconds> processor_time(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Runs `work(descriptor to write to)` in a child and `take(descriptor to read from, child)` here.
// Each returns whether it transferred everything. If the answer was not taken, the child is killed.
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
  const bool is_taken = take(reading.get(), child);
  if (!is_taken) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!is_taken) return std::unexpected(child_error(status));
  return {};
}

// `work` returns Result<Answer> in the child. A child that has not answered in time is killed. The
// limit is generous: beside thirty busy processes, one second of work takes more than five.
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
  const auto begin = std::chrono::steady_clock::now();
  auto taken = talk_with_child(
      answer, [&](int fd, pid_t) { return read_answer(fd, &message, sizeof(message), timeout); });
  if (!taken && std::chrono::steady_clock::now() - begin >= timeout)
    return fail("it was not done after {:.3g} s", std::chrono::duration<double>(timeout).count());
  SJ_CHECK(taken);
  if (message.is_error) return fail("{}", message.error);
  return message.answer;
}

// The limits of a child. A busy machine may give the child no CPU for a long time, so its processor
// time counts. The limit in wall time is for a child that blocks.
struct ChildPatience {
  std::chrono::milliseconds processor_time;
  std::chrono::milliseconds blocked = std::chrono::minutes(10);
};

// `work` returns a std::string of at most `max_bytes` in the child.
template <typename Work>
Result<std::string> text_from_child(Work work, std::size_t max_bytes, ChildPatience patience) {
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
  constexpr std::chrono::milliseconds kLook(20);
  std::string text;
  std::string why_not;
  const auto taken = talk_with_child(answer, [&](int fd, pid_t child) {
    const auto end = std::chrono::steady_clock::now() + patience.blocked;
    const auto left = [&] {
      const auto used = processor_time(child);
      if (used && *used >= patience.processor_time)
        why_not = fmt::format("it took more than {:.3g} s of processor time",
                              std::chrono::duration<double>(patience.processor_time).count());
      else if (std::chrono::steady_clock::now() >= end)
        why_not =
            fmt::format("it was not done after {} s",
                        std::chrono::duration_cast<std::chrono::seconds>(patience.blocked).count());
      return why_not.empty() ? kLook : std::chrono::milliseconds(0);
    };
    std::size_t bytes = 0;
    if (!read_while(fd, &bytes, sizeof(bytes), left)) return false;
    if (bytes > max_bytes) {
      why_not = fmt::format("it answered with {} bytes", bytes);
      return false;
    }
    text.resize(bytes);
    return read_while(fd, text.data(), bytes, left);
  });
  if (!taken && !why_not.empty()) return fail("{}", why_not);
  if (!taken) return std::unexpected(taken.error());
  return text;
}

}  // namespace sojourn::base
