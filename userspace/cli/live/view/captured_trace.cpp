#include "userspace/cli/live/view/captured_trace.h"

#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/cli/tell.h"

namespace sojourn::cli {

namespace {

// Runs in the child. It has its own process group, so that Ctrl-C and Ctrl-Z reach the view only.
[[noreturn]] void capture_in_child(RecordOptions& options, const live_view::UnnamedTrace& trace,
                                   pid_t viewer, int messages) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
  }
  dup2(messages, STDERR_FILENO);
  options.output = "live view";
  options.sink = [&trace, viewer] { return trace.sink(viewer); };
  int code = 0;
  try {
    if (const auto recorded = run_record(options); !recorded) {
      tell("sojourn: {}\n", recorded.error().text());
      code = 1;
    }
  } catch (const std::exception& problem) {
    tell("sojourn: {}\n", problem.what());
    code = 1;
  }
  _exit(code);
}

}  // namespace

Result<std::unique_ptr<CapturedTrace>> CapturedTrace::start(RecordOptions& options,
                                                            live_view::UnnamedTrace trace,
                                                            int not_for_child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  base::Fd reading(ends[0]);
  const base::Fd writing(ends[1]);
  if (fcntl(reading.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("make a pipe");
  const pid_t viewer = getpid();
  const pid_t child = fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    if (not_for_child >= 0) close(not_for_child);
    capture_in_child(options, trace, viewer, writing.get());
  }
  return std::unique_ptr<CapturedTrace>(
      new CapturedTrace(child, std::move(reading), std::move(trace)));
}

std::vector<std::string> CapturedTrace::take_messages() {
  std::vector<std::string> lines;
  char bytes[4096];
  for (;;) {
    const ssize_t got = read(messages_.get(), bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    unfinished_.append(bytes, static_cast<std::size_t>(got));
  }
  for (std::size_t end = unfinished_.find('\n'); end != std::string::npos;
       end = unfinished_.find('\n')) {
    lines.push_back(unfinished_.substr(0, end));
    unfinished_.erase(0, end + 1);
  }
  return lines;
}

void CapturedTrace::note_end(int status) {
  has_ended_ = true;
  has_failed_ = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

bool CapturedTrace::has_ended() {
  int status = 0;
  if (!has_ended_ && waitpid(pid_, &status, WNOHANG) == pid_) note_end(status);
  return has_ended_;
}

void CapturedTrace::stop() {
  if (has_ended()) return;
  kill(pid_, SIGINT);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0)
    if (errno != EINTR) return;
  note_end(status);
}

}  // namespace sojourn::cli
