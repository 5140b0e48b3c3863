// A C++ program without points whose functions are left in every possible way: by returns, by a
// jump to another function, by exceptions, by longjmp(); also within themselves, and on several
// threads at once. Buffers are given out and taken back, the same ones over and over. The program
// records its own durations: for some calls it prints the thread, a number, the result, and the
// times of entry and exit. SIGUSR1 lets it begin, SIGTERM end. Usage: spans ROUNDS THREADS
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#ifdef __clang__
#define OPAQUE [[gnu::noinline, gnu::used]]
#else
#define OPAQUE [[gnu::noipa, gnu::used]]
#endif

namespace {

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void work_for(std::uint64_t span_ns) {
  const std::uint64_t from = now_ns();
  while (now_ns() - from < span_ns) {
  }
}

std::mutex printing;

struct Line {
  const char* what;
  std::uint64_t number;
  std::int64_t result;
  std::uint64_t before_ns;
  std::uint64_t after_ns;
};
thread_local std::vector<Line> lines;

void note(const char* what, std::uint64_t number, std::int64_t result, std::uint64_t before_ns) {
  lines.push_back({what, number, result, before_ns, now_ns()});
}

std::jmp_buf escape;

}  // namespace

namespace spans {

// Two ways out, each with a result of its own.
OPAQUE std::int64_t twice(std::uint64_t number) {
  if (number % 2 == 0) {
    work_for(20'000);
    return -static_cast<std::int64_t>(number);
  }
  work_for(60'000);
  return static_cast<std::int64_t>(number * 3);
}

// Left by an exception one time in three.
OPAQUE std::int64_t risky(std::uint64_t number) {
  work_for(10'000);
  if (number % 3 == 0) throw std::runtime_error("no grant");
  return static_cast<std::int64_t>(number + 7);
}

// An exception goes through it.
OPAQUE std::int64_t around(std::uint64_t number) {
  const std::int64_t result = risky(number) + 1;
  work_for(5'000);
  return result;
}

// Left by longjmp() one time in three.
OPAQUE std::int64_t jumps(std::uint64_t number) {
  work_for(10'000);
  if (number % 3 == 1) std::longjmp(escape, 1);
  return static_cast<std::int64_t>(number * 5);
}

OPAQUE std::int64_t deep(std::uint64_t number) {
  work_for(3'000);
  if (number == 0) return 1;
  std::int64_t below = deep(number - 1);
  asm volatile("" : "+r"(below));  // no loop instead
  return below + 1;
}

// Optimised code ends in a jump here.
OPAQUE std::int64_t passes_on(std::uint64_t number) {
  work_for(8'000);
  return twice(number + 2);
}

// A table of jumps in it.
OPAQUE std::int64_t chooses(std::uint64_t number) {
  switch (number % 8) {
    case 0:
      work_for(4'000);
      return 11;
    case 1:
      work_for(5'000);
      return 23;
    case 2:
      work_for(6'000);
      return 35;
    case 3:
      return -4;
    case 4:
      work_for(7'000);
      return 58;
    case 5:
      return -16;
    case 6:
      work_for(1'000);
      return 77;
    default:
      return 88;
  }
}

struct Buffer {
  std::uint64_t number = 0;
};
Buffer buffers[8];
std::vector<Buffer*> unused;
std::mutex pool;

// The buffer that was taken back last is given out first.
OPAQUE Buffer* give_out(std::uint64_t number) {
  const std::lock_guard lock(pool);
  Buffer* const one = unused.back();
  unused.pop_back();
  one->number = number;
  return one;
}

OPAQUE void take_back(Buffer* one) {
  {
    const std::lock_guard lock(pool);
    unused.push_back(one);
  }
  work_for(2'000);
}

}  // namespace spans

namespace {

template <typename Function>
void call(const char* what, Function function, std::uint64_t number) {
  const std::uint64_t before_ns = now_ns();
  note(what, number, function(number), before_ns);
}

void round_of(std::uint64_t number) {
  call("twice", spans::twice, number);
  call("deep", spans::deep, number % 5);
  call("passes_on", spans::passes_on, number);
  call("chooses", spans::chooses, number);
  try {
    call("around", spans::around, number);
  } catch (const std::runtime_error&) {
    note("thrown", number, 0, now_ns());
  }
}

void exchange(std::uint64_t number) {
  spans::Buffer* const first = spans::give_out(number);
  spans::Buffer* const second = spans::give_out(number + 500'000);
  spans::take_back(first);
  spans::take_back(second);
}

void jump_once(std::uint64_t number) {
  static volatile std::uint64_t kept;
  kept = number;
  if (setjmp(escape) == 0)
    call("jumps", spans::jumps, number);
  else
    note("jumped", kept, 0, now_ns());
}

void run(std::uint64_t thread, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t number = thread * 1'000'000 + round;
    round_of(number);
    exchange(number);
    if (thread == 0) jump_once(number);
    if (round % 16 == 0) usleep(100);
  }
  const std::lock_guard lock(printing);
  for (const Line& line : lines)
    std::printf("%s %d %llu %lld %llu %llu\n", line.what, gettid(),
                static_cast<unsigned long long>(line.number), static_cast<long long>(line.result),
                static_cast<unsigned long long>(line.before_ns),
                static_cast<unsigned long long>(line.after_ns));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const std::uint64_t threads = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2;
  for (spans::Buffer& one : spans::buffers) spans::unused.push_back(&one);
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGUSR1);
  sigaddset(&told, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &told, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  int which = 0;
  sigwait(&told, &which);
  std::vector<std::thread> others;
  for (std::uint64_t thread = 1; thread < threads; ++thread)
    others.emplace_back(run, thread, rounds);
  run(0, rounds);
  for (std::thread& one : others) one.join();
  std::puts("done");
  std::fflush(stdout);
  sigwait(&told, &which);
}
