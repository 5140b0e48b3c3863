// The creation of processes and threads, alone and with their run to the end.
#include <cerrno>
#include <string>

#include <fmt/format.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

void wait_for(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// The time in the parent from before the fork to after it. The child's end is not part of it.
double fork_ns() {
  const std::uint64_t before = base::monotonic_ns();
  const pid_t child = fork();
  const std::uint64_t behind = base::monotonic_ns();
  if (child == 0) _exit(0);
  if (child > 0) wait_for(child);
  return static_cast<double>(behind - before);
}

double fork_and_run_ns() {
  const std::uint64_t before = base::monotonic_ns();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) wait_for(child);
  return static_cast<double>(base::monotonic_ns() - before);
}

double spawn_ns() {
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {nullptr};
  pid_t child = -1;
  const std::uint64_t before = base::monotonic_ns();
  if (posix_spawn(&child, name, nullptr, nullptr, arguments, environment) == 0) wait_for(child);
  return static_cast<double>(base::monotonic_ns() - before);
}

void* nothing(void*) {
  return nullptr;
}

double thread_ns(bool and_run) {
  pthread_t thread{};
  const std::uint64_t before = base::monotonic_ns();
  const bool is_made = pthread_create(&thread, nullptr, nothing, nullptr) == 0;
  std::uint64_t behind = base::monotonic_ns();
  if (is_made) pthread_join(thread, nullptr);
  if (and_run) behind = base::monotonic_ns();
  return static_cast<double>(behind - before);
}

// The number of resident pages: a fork copies their page tables.
std::string own_size(const Bench& bench) {
  const std::string text = read_line_below(bench.roots().proc + "/self/statm");
  const auto blank = text.find(' ');
  if (blank == std::string::npos) return {};
  const std::string_view rest = std::string_view(text).substr(blank + 1);
  return fmt::format("of a process with {} pages in memory", rest.substr(0, rest.find(' ')));
}

}  // namespace

void measure_processes(Bench& bench) {
  const std::string size = own_size(bench);
  const auto sample_all = [&](Row row, auto sample) -> Measurement& {
    sample();
    return bench.measure_samples(std::move(row), sample, true);
  };
  sample_all({"processes.fork", "process creation", "fork(), in the parent"}, fork_ns).note = size;
  sample_all(
      {"processes.fork_run", "process creation and run", "fork(), exit of the child, waitpid()"},
      fork_and_run_ns)
      .note = size;
  if (access("/bin/true", X_OK) == 0)
    sample_all({"processes.spawn", "program started and run", "posix_spawn() of /bin/true"},
               spawn_ns);
  else
    bench.leave_out({"processes.spawn", "program started and run", ""}, "no /bin/true here");
  sample_all({"processes.thread", "thread creation", "pthread_create(), in the creator"},
             [] { return thread_ns(false); });
  sample_all(
      {"processes.thread_run", "thread creation and run", "pthread_create() and pthread_join()"},
      [] { return thread_ns(true); });
}

}  // namespace sojourn::host
