// Procedure calls with 0 to 7 arguments, a minimal system call, and a call that the kernel answers
// in user space (vDSO).
#include <ctime>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

// The compiler may not inline, clone or remove these functions.
#ifdef __clang__
#define SJ_PROCEDURE __attribute__((noinline)) void
#else
#define SJ_PROCEDURE __attribute__((noinline, noclone)) void
#endif

using Word = std::uint64_t;

SJ_PROCEDURE take0() {
  asm volatile("" : : : "memory");
}
SJ_PROCEDURE take1(Word a) {
  asm volatile("" : : "r"(a) : "memory");
}
SJ_PROCEDURE take2(Word a, Word b) {
  asm volatile("" : : "r"(a), "r"(b) : "memory");
}
SJ_PROCEDURE take3(Word a, Word b, Word c) {
  asm volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
}
SJ_PROCEDURE take4(Word a, Word b, Word c, Word d) {
  asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
SJ_PROCEDURE take5(Word a, Word b, Word c, Word d, Word e) {
  asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e) : "memory");
}
SJ_PROCEDURE take6(Word a, Word b, Word c, Word d, Word e, Word f) {
  asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f) : "memory");
}
SJ_PROCEDURE take7(Word a, Word b, Word c, Word d, Word e, Word f, Word g) {
  asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f), "m"(g) : "memory");
}

template <typename Call>
void repeat(std::uint64_t times, Call call) {
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    call(turn);
    keep(turn);
  }
}

template <typename Call>
void measure_procedure(Bench& bench, int arguments, Call call) {
  bench.measure({fmt::format("calls.procedure{}", arguments),
                 fmt::format("procedure call, {} argument{}", arguments, arguments == 1 ? "" : "s"),
                 "never inlined, the loop subtracted"},
                [&](std::uint64_t times) { repeat(times, call); },
                {.subtract_ns = loop_cost_ns(bench)});
}

}  // namespace

void measure_calls(Bench& bench) {
  if (bench.form() != Form::kBrief) {
    measure_procedure(bench, 0, [](Word) { take0(); });
    measure_procedure(bench, 1, [](Word a) { take1(a); });
    measure_procedure(bench, 2, [](Word a) { take2(a, 2); });
    measure_procedure(bench, 3, [](Word a) { take3(a, 2, 3); });
    measure_procedure(bench, 4, [](Word a) { take4(a, 2, 3, 4); });
    measure_procedure(bench, 5, [](Word a) { take5(a, 2, 3, 4, 5); });
    measure_procedure(bench, 6, [](Word a) { take6(a, 2, 3, 4, 5, 6); });
    measure_procedure(bench, 7, [](Word a) { take7(a, 2, 3, 4, 5, 6, a); });
  }
  bench.measure({"calls.syscall", "system call", "getppid, the loop subtracted"},
                [](std::uint64_t times) {
                  for (std::uint64_t turn = 0; turn < times; ++turn) {
                    syscall(SYS_getppid);
                    keep(turn);
                  }
                },
                {.subtract_ns = loop_cost_ns(bench)});
  if (bench.form() == Form::kBrief) return;
  bench.measure({"calls.vdso", "vDSO call", "time(), the loop subtracted"},
                [](std::uint64_t times) {
                  for (std::uint64_t turn = 0; turn < times; ++turn) {
                    std::time_t now = std::time(nullptr);
                    keep(now);
                    keep(turn);
                  }
                },
                {.subtract_ns = loop_cost_ns(bench)});
}

}  // namespace sojourn::host
