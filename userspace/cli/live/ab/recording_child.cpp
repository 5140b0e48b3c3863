#include "userspace/cli/live/ab/recording_child.h"

#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::cli {

namespace {

sigset_t interrupt_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

[[noreturn]] void become_record(std::vector<char*>& argv, pid_t parent) {
  // Ends with its parent as with an interrupt: the trace is written and the target left whole.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  const sigset_t signals = interrupt_signals();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);  // the group is not the terminal's foreground
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execv("/proc/self/exe", argv.data());
  _exit(127);
}

// Waits for the child, passing an interrupt on. Returns whether there was one.
bool wait_for_end(pid_t child, const base::Fd& interrupts, int& status) {
  const base::Fd ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  bool is_interrupted = false;
  while (ended) {
    pollfd watched[] = {{.fd = ended.get(), .events = POLLIN, .revents = 0},
                        {.fd = interrupts.get(), .events = POLLIN, .revents = 0}};
    if (poll(watched, 2, -1) < 0 && errno != EINTR) break;
    if (watched[0].revents != 0) break;
    if (watched[1].revents == 0) continue;
    signalfd_siginfo told{};
    if (read(interrupts.get(), &told, sizeof(told)) != sizeof(told)) continue;
    is_interrupted = true;
    kill(child, SIGINT);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return is_interrupted;
}

// Ends the remaining processes of a group: by a signal first, and by force if that takes too long.
void end_group(pid_t group) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience(5);
  if (kill(-group, SIGTERM) != 0) return;
  const auto by_force = Clock::now() + kPatience;
  bool is_forced = false;
  while (true) {
    const pid_t reaped = waitpid(-group, nullptr, WNOHANG);
    if (reaped > 0) continue;
    if (reaped < 0 && errno == ECHILD && kill(-group, 0) != 0) return;
    if (!is_forced && Clock::now() >= by_force) {
      kill(-group, SIGKILL);
      is_forced = true;
    }
    if (is_forced && Clock::now() >= by_force + kPatience) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

Result<base::Fd> prepare_recordings() {
  const sigset_t signals = interrupt_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  base::Fd interrupts(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!interrupts) return fail_errno("watch for interrupts");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return fail_errno("adopt what recordings start");
  return interrupts;
}

Result<void> record_once(const std::vector<std::string>& arguments, const base::Fd& interrupts) {
  std::vector<std::string> words = {"sojourn", "record"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return fail_errno("start `sojourn record`");
  if (child == 0) become_record(argv, parent);
  // Parent and child both call it, so that the group exists whichever runs first.
  setpgid(child, child);
  int status = 0;
  const bool is_interrupted = wait_for_end(child, interrupts, status);
  end_group(child);
  if (is_interrupted) return fail("interrupted");
  if (WIFSIGNALED(status))
    return fail("`sojourn record` was killed by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return fail("`sojourn record` ended with exit code {}", WEXITSTATUS(status));
  return {};
}

}  // namespace sojourn::cli
