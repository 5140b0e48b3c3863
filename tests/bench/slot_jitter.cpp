// How late the slots of real-time threads begin beside a command. One thread a CPU wakes each
// 500 us (SCHED_FIFO) as a base station's slot thread does, works, and passes a point. Prints one
// row for each span of the command's run, which its lines on stderr divide, and for the two seconds
// before and after it. With --total: one row for the whole run.
// Usage: slot-jitter-program [--work US] [--priority N] [--total NAME] COMMAND [ARGUMENTS...].
// Needs root. An argument {} becomes this program's process id. The script slot-jitter runs it.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <sojourn/point.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr std::uint64_t kSlotNs = 500'000;
constexpr std::uint64_t kNotedNs = 100'000;
constexpr std::size_t kMostLate = 200'000;
constexpr std::uint64_t kQuietNs = 2'000'000'000;  // before and after the command

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// A slot that began late. While the thread waited for its CPU the kernel or another thread had it;
// for the rest of the time the timer did not fire: the host or closed interrupts.
struct LateSlot {
  std::uint64_t due_ns = 0;
  std::uint64_t late_ns = 0;
  std::uint64_t waited_ns = 0;
};

struct SlotThread {
  std::vector<LateSlot> late;
  std::thread thread;
};

std::atomic<bool> is_over = false;

std::uint64_t waited_ns(int schedstat) {
  std::array<char, 96> text{};
  if (pread(schedstat, text.data(), text.size() - 1, 0) <= 0) return 0;
  const char* const second = std::strchr(text.data(), ' ');
  return second == nullptr ? 0 : std::strtoull(second + 1, nullptr, 10);
}

struct Slots {
  int priority = 90;
  std::uint64_t work_ns = 0;
  std::string_view total;
};

void run_slots(std::vector<LateSlot>& late, std::size_t cpu, const Slots& how) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  const sched_param urgent{.sched_priority = how.priority};
  if (sched_setaffinity(0, sizeof(one), &one) != 0 ||
      sched_setscheduler(0, SCHED_FIFO, &urgent) != 0) {
    fmt::print(stderr, "slot-jitter-program: no real-time priority: {}\n", std::strerror(errno));
    std::exit(1);
  }
  const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  std::uint32_t slot = 0;
  std::uint64_t waited = waited_ns(schedstat);
  std::uint64_t due = now_ns() / kSlotNs * kSlotNs + kSlotNs;
  while (!is_over) {
    const timespec at{.tv_sec = static_cast<time_t>(due / 1'000'000'000),
                      .tv_nsec = static_cast<long>(due % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    const std::uint64_t began = now_ns();
    const std::uint64_t late_ns = began - due;
    SJ_POINT("D slot--work", "::slot", slot);
    ++slot;
    const std::uint64_t waited_now = waited_ns(schedstat);
    if (late_ns >= kNotedNs && late.size() < kMostLate)
      late.push_back({.due_ns = due, .late_ns = late_ns, .waited_ns = waited_now - waited});
    while (now_ns() - began < how.work_ns) {
    }
    waited = waited_ns(schedstat);
    due += kSlotNs * (1 + (now_ns() - due) / kSlotNs);  // a thread that is late skips slots
  }
  close(schedstat);
}

struct Span {
  std::uint64_t begin_ns = 0;
  std::string name;
};

// Runs the command and notes when it wrote which line.
int run(char** command, std::vector<Span>& spans) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::exit(1);
  spans.push_back({now_ns(), "starts"});
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    execvp(command[0], command);
    _exit(127);
  }
  close(ends[1]);
  std::string line;
  std::array<char, 4096> text{};
  for (ssize_t got = 0; (got = read(ends[0], text.data(), text.size())) > 0;)
    for (const char one : std::string_view(text.data(), static_cast<std::size_t>(got)))
      if (one == '\n' || one == '\r') {
        if (!line.empty()) spans.push_back({now_ns(), line});
        line.clear();
      } else {
        line += one;
      }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  spans.push_back({now_ns(), "after it"});
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// How often slots of a span were later than half of one and than a whole one.
struct Lateness {
  std::size_t half = 0;
  std::size_t whole = 0;
  std::uint64_t worst_ns = 0;

  void add(std::uint64_t late_ns) {
    half += late_ns >= kSlotNs / 2 ? 1 : 0;
    whole += late_ns >= kSlotNs ? 1 : 0;
    worst_ns = std::max(worst_ns, late_ns);
  }
  void print() const { fmt::print("{:7} {:6} {:8}", half, whole, worst_ns / 1000); }
};

// "timer": the slot's timer fired late, for the host or closed interrupts. "CPU": the thread was
// woken and waited, as the kernel or another thread had its CPU.
void print(const std::vector<Span>& spans, std::uint64_t end_ns,
           const std::vector<SlotThread>& threads) {
  fmt::print("{:>8} {:>8} | timer {:>6} {:>6} {:>8} | CPU {:>6} {:>6} {:>8} | span\n", "s", "slots",
             ">250us", ">500us", "worst us", ">250us", ">500us", "worst us");
  for (std::size_t at = 0; at < spans.size(); ++at) {
    const std::uint64_t to = at + 1 < spans.size() ? spans[at + 1].begin_ns : end_ns;
    const double seconds = static_cast<double>(to - spans[at].begin_ns) / 1e9;
    Lateness timer;
    Lateness cpu;
    for (const SlotThread& thread : threads)
      for (const LateSlot& slot : thread.late)
        if (slot.due_ns >= spans[at].begin_ns && slot.due_ns < to)
          (slot.waited_ns * 2 >= slot.late_ns ? cpu : timer).add(slot.late_ns);
    fmt::print("{:8.3f} {:8.0f} |      ", seconds,
               seconds * 1e9 / static_cast<double>(kSlotNs) * static_cast<double>(threads.size()));
    timer.print();
    fmt::print(" |     ");
    cpu.print();
    fmt::print(" | {:.60}\n", spans[at].name);
  }
}

}  // namespace

int main(int count, char** arguments) {
  Slots how;
  int at = 1;
  for (; at + 1 < count && std::string_view(arguments[at]).starts_with("--"); at += 2) {
    const std::string_view option = arguments[at];
    const std::string_view text = arguments[at + 1];
    std::uint64_t number = 0;
    if (option == "--total") how.total = text;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (option == "--work") how.work_ns = number * 1000;
    if (option == "--priority") how.priority = static_cast<int>(number);
  }
  if (at >= count) {
    fmt::print(stderr,
               "usage: slot-jitter-program [--work US] [--priority N] [--total NAME] COMMAND "
               "[ARGUMENTS...]\n");
    return 2;
  }
  std::vector<SlotThread> threads(static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  for (std::size_t cpu = 0; cpu < threads.size(); ++cpu) {
    threads[cpu].late.reserve(kMostLate);
    threads[cpu].thread =
        std::thread([&late = threads[cpu].late, cpu, how] { run_slots(late, cpu, how); });
  }
  std::string own = fmt::format("{}", getpid());
  for (int each = at; each < count; ++each)
    if (std::string_view(arguments[each]) == "{}") arguments[each] = own.data();
  std::vector<Span> spans = {{now_ns(), "before it"}};
  const timespec quiet{.tv_sec = kQuietNs / 1'000'000'000, .tv_nsec = 0};
  nanosleep(&quiet, nullptr);
  const int status = run(arguments + at, spans);
  nanosleep(&quiet, nullptr);
  const std::uint64_t end_ns = now_ns();
  is_over = true;
  for (SlotThread& thread : threads) thread.thread.join();
  if (!how.total.empty())
    spans = {spans[0], {spans[1].begin_ns, std::string(how.total)}, spans.back()};
  print(spans, end_ns, threads);
  return status;
}
