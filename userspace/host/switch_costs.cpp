// Switches between two processes or threads that hand a byte back and forth. The cost of the pipe
// itself is measured and subtracted.
#include <array>
#include <atomic>
#include <climits>
#include <string>

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "userspace/base/fd.h"
#include "userspace/host/partner.h"
#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

struct Pipe {
  base::Fd reading;
  base::Fd writing;

  static Pipe make() {
    int ends[2];
    if (pipe(ends) != 0) return {};
    return {base::Fd(ends[0]), base::Fd(ends[1])};
  }
  explicit operator bool() const { return static_cast<bool>(reading); }
  bool put() const {
    const char byte = 'b';
    return write(writing.get(), &byte, 1) == 1;
  }
  bool take() const {
    char byte = 0;
    return read(reading.get(), &byte, 1) == 1;
  }
};

// Answers each byte until the other end of the pipe is closed.
void answer(const Pipe& from, const Pipe& to) {
  while (from.take() && to.put()) {
  }
}

void round_trips(std::uint64_t times, const Pipe& there, const Pipe& back) {
  for (std::uint64_t turn = 0; turn < times; ++turn)
    if (!there.put() || !back.take()) return;
}

constexpr const char* kPipeMethod =
    "a byte there and back by two pipes, without the pipes' own cost, halved";

void measure_pipes(Bench& bench, std::uint32_t cpu, bool is_process, Row row) {
  const Pipe there = Pipe::make();
  Pipe back = Pipe::make();
  if (!there || !back) return bench.leave_out(std::move(row), "no pipe can be made");
  const double pipe_ns = bench.before("switches.pipe");
  const auto run = [&](std::uint64_t times) { round_trips(times, there, back); };
  const MeasureOptions options = {.subtract_ns = 2 * pipe_ns, .divide_by = 2, .has_partner = true};
  if (is_process) {
    const PartnerProcess partner(cpu, [&] { answer(there, back); });
    if (!partner.is_there()) return bench.leave_out(std::move(row), "fork failed");
    bench.measure(std::move(row), run, options);
    return;
  }
  std::atomic<bool> is_over = false;
  const PartnerThread partner(cpu, [&] {
    while (there.take() && !is_over && back.put()) {
    }
  });
  bench.measure(std::move(row), run, options);
  is_over = true;
  there.put();
}

// The threads' turns. Both wait for their turn in the kernel (futex).
class Turns {
 public:
  void give(std::uint32_t to) {
    turn_.store(to);
    futex(FUTEX_WAKE_PRIVATE, INT_MAX);
  }
  void wait_for(std::uint32_t mine) {
    for (std::uint32_t seen = turn_.load(); seen != mine && seen != kOver; seen = turn_.load())
      futex(FUTEX_WAIT_PRIVATE, seen);
  }
  bool is_over() const { return turn_.load() == kOver; }
  void end() { give(kOver); }

 private:
  static constexpr std::uint32_t kOver = UINT32_MAX;

  void futex(int operation, std::uint32_t value) {
    syscall(SYS_futex, &turn_, operation, value, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> turn_ = 0;
};

void measure_futex(Bench& bench, std::uint32_t cpu, Row row) {
  Turns turns;
  const PartnerThread partner(cpu, [&] {
    while (!turns.is_over()) {
      turns.wait_for(1);
      if (!turns.is_over()) turns.give(0);
    }
  });
  bench.measure(std::move(row),
                [&](std::uint64_t times) {
                  for (std::uint64_t turn = 0; turn < times; ++turn) {
                    turns.give(1);
                    turns.wait_for(0);
                  }
                },
                {.divide_by = 2, .has_partner = true});
  turns.end();
}

}  // namespace

void measure_switches(Bench& bench) {
  const std::uint32_t home = bench.placement().home();
  if (bench.form() != Form::kBrief) {
    const Pipe own = Pipe::make();
    bench.measure({"switches.pipe", "a byte through a pipe", "write() and read() in one thread"},
                  [&](std::uint64_t times) { round_trips(times, own, own); });
    measure_pipes(bench, home, true, {"switches.process", "switch of processes", kPipeMethod});
    measure_pipes(bench, home, false, {"switches.thread", "switch of threads", kPipeMethod});
  }
  measure_futex(bench, home,
                {"switches.futex", "switch of threads by futex",
                 "a turn there and back, with waking and waiting, halved"});
  const std::array across = {
      Row{"switches.process_cross", "hand-over to a process on another CPU", kPipeMethod},
      Row{"switches.thread_cross", "hand-over to a thread on another CPU", kPipeMethod},
      Row{"switches.futex_cross", "hand-over to a thread on another CPU by futex",
          "a turn there and back, with waking and waiting, halved"}};
  const auto partner = bench.placement().partner();
  if (!partner) {
    for (const Row& row : across) bench.leave_out(row, "this process may use one CPU only");
    return;
  }
  if (bench.form() != Form::kBrief) {
    measure_pipes(bench, *partner, true, across[0]);
    measure_pipes(bench, *partner, false, across[1]);
  }
  measure_futex(bench, *partner, across[2]);
}

}  // namespace sojourn::host
