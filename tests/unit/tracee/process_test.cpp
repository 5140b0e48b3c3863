#include "userspace/tracee/process.h"

#include <array>
#include <atomic>
#include <ctime>
#include <filesystem>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"
#include "userspace/tracee/host.h"
#include "userspace/tracee/procfs.h"

using namespace sojourn;
using Catch::Matchers::ContainsSubstring;
using tracee::Process;

namespace {

std::string error_of(pid_t pid) {
  const auto process = Process::open(pid);
  return process ? "" : process.error().text();
}

}  // namespace

TEST_CASE("a running process has its pid, name and executable") {
  const std::string path = subject::path("program-O2");
  const subject::Running running({path, "", "two words"});
  const auto process = Process::open(running.pid());
  REQUIRE(process);
  CHECK(process->pid() == running.pid());
  CHECK(process->namespace_pid() == running.pid());
  CHECK(process->comm() == "program-O2");
  CHECK(process->exe() == std::filesystem::canonical(path));
  CHECK(process->cmdline() == std::vector<std::string>{path, "", "two words"});
  CHECK(process->alive());
  CHECK(process->start_time_ns() > 0);

  const auto target = process->describe();
  REQUIRE(target);
  CHECK(target->pid == running.pid());
  CHECK(target->name == "program-O2");
  CHECK(target->exe == process->exe());
  CHECK(target->build_id.size() == 40);
}

TEST_CASE("a deleted executable keeps its name and its build id") {
  const subject::TemporaryDirectory directory;
  const std::string path = directory.path("gnb");
  std::filesystem::copy_file(subject::path("program-O2"), path);
  const subject::Running running({path});
  std::filesystem::remove(path);
  const auto process = Process::open(running.pid());
  REQUIRE(process);
  CHECK(process->exe() == path);
  CHECK(process->describe()->build_id.size() == 40);
}

TEST_CASE("the end of a process shows in its descriptor") {
  subject::Running running({subject::path("program-O2")});
  const auto process = Process::open(running.pid());
  REQUIRE(process);
  running.end();
  pollfd exited{.fd = process->pidfd(), .events = POLLIN, .revents = 0};
  CHECK(poll(&exited, 1, -1) == 1);
  CHECK_FALSE(process->alive());
  const auto time = process->cpu_time_ns();
  REQUIRE_FALSE(time);
  CHECK_THAT(time.error().text(), ContainsSubstring("(program-O2) has exited"));
}

TEST_CASE("processor time grows while a process computes") {
  const auto process = Process::open(getpid());
  REQUIRE(process);
  const auto before = process->cpu_time_ns();
  REQUIRE(before);
  const std::clock_t start = std::clock();
  while (std::clock() - start < CLOCKS_PER_SEC / 10) {
  }
  const auto after = process->cpu_time_ns();
  REQUIRE(after);
  CHECK(*after > *before);
}

TEST_CASE("an id that no process has is refused") {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  CHECK_THAT(error_of(child), ContainsSubstring("no process " + std::to_string(child)));
  CHECK_THAT(error_of(0), ContainsSubstring("no process id"));
  CHECK_THAT(error_of(-5), ContainsSubstring("-5 is no process id"));
}

TEST_CASE("a thread's id is refused with the id of its process") {
  std::atomic<pid_t> id = 0;
  std::atomic<bool> end = false;
  std::thread thread([&] {
    id = gettid();
    id.notify_one();
    end.wait(false);
  });
  id.wait(0);
  const std::string error = error_of(id);
  end = true;
  end.notify_one();
  thread.join();
  CHECK(error == fmt::format("{} is a thread of process {}: give that one's id, -p {}", id.load(),
                             getpid(), getpid()));
}

TEST_CASE("a process that has exited but was not waited for is refused") {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK_THAT(error_of(child), ContainsSubstring("has exited"));
  waitpid(child, nullptr, 0);
}

TEST_CASE("a kernel thread is refused") {
  constexpr pid_t kThreadDaemon = 2;
  const auto comm = tracee::read_whole("/proc/2/comm");
  if (!comm || *comm != "kthreadd\n")
    SKIP("process 2 is not the kernel's: this seems to be a container");
  CHECK(error_of(kThreadDaemon) ==
        "2 (kthreadd) is a kernel thread: it has no program with points in it");
}

TEST_CASE("without rights the error says which are needed") {
  const subject::Running running({subject::path("program-O2")});
  std::string error;
  if (geteuid() == 0) {
    // A child without root's rights tries.
    std::array<int, 2> pipe_ends;
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const pid_t child = fork();
    if (child == 0) {
      constexpr uid_t kNobody = 65534;
      if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
      const std::string text = error_of(running.pid());
      const bool written =
          write(pipe_ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
      _exit(written ? 0 : 1);
    }
    close(pipe_ends[1]);
    std::array<char, 1000> buffer;
    const ssize_t bytes = read(pipe_ends[0], buffer.data(), buffer.size());
    error.assign(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
    close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
  } else {
    error = error_of(1);
  }
  CHECK_THAT(error, ContainsSubstring("no rights to look into process"));
  CHECK_THAT(error, ContainsSubstring("run as root, or give this program CAP_SYS_PTRACE"));
}

TEST_CASE("a command name cannot forge the numbers after it") {
  const auto stat = tracee::parse_stat(
      "77 (x) R 9 9) S 1 77 77 0 -1 4194304 100 0 0 0 12 34 0 0 20 0 1 0 5000 1000000 200 "
      "18446744073709551615");
  REQUIRE(stat);
  CHECK(stat->state == 'S');
  CHECK(stat->flags == 4194304);
  const auto tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  CHECK(stat->cpu_time_ns == 46 * tick_ns);
  CHECK(stat->start_time_ns == 5000 * tick_ns);
  CHECK_FALSE(tracee::parse_stat("77 (x"));
  CHECK_FALSE(tracee::parse_stat("77 (x) R 1 2 3"));
  CHECK_FALSE(tracee::parse_stat(""));
}

TEST_CASE("a target's text cannot drive a terminal") {
  CHECK(tracee::printable("a\x1b[2Jb\nc\x7f") == "a\\x1b[2Jb\\x0ac\\x7f");
  CHECK(tracee::printable("caf\xc3\xa9") == "caf\xc3\xa9");
}

TEST_CASE("the host has a name, a kernel and processors") {
  const model::Host host = tracee::host_info();
  CHECK_FALSE(host.name.empty());
  CHECK_FALSE(host.kernel.empty());
  CHECK_FALSE(host.machine.empty());
  CHECK(host.cpus >= 1);
}
