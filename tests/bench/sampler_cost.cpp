// The cost of sampling 200 queues: the sampler's thread, and the writing of its records, beside a
// bare timer of the same period, in turn, several rounds each. The queues are a child's, this very
// program, which moves some of them 20,000 times a second. On a busy machine ticks are missed,
// which makes all of them look cheaper. So the sampler's cost above the timer is computed from the
// CPU time of one wakeup, as if no tick were missed. Prints medians and quartiles. Usage:
// sampler-cost [ROUNDS [MOVING]]
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <sojourn/queue.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "userspace/base/clock.h"
#include "userspace/capture/queues/queue_sampler.h"
#include "userspace/files/trace_file.h"

namespace {

using namespace sojourn;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr int kQueues = 200;
constexpr auto kRound = std::chrono::milliseconds(500);

[[noreturn]] void be_target(int moving) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<sj_queue*> queues;
  for (int i = 0; i < kQueues; ++i)
    queues.push_back(SJ_QUEUE(fmt::format("queue {}", i).c_str(), .capacity = 64));
  (void)!write(3, "ready\n", 6);
  prctl(PR_SET_TIMERSLACK, 1UL);
  for (;;) {
    std::this_thread::sleep_for(microseconds(50));
    for (int i = 0; i < moving; ++i) {
      SJ_ENQUEUE(queues[static_cast<std::size_t>(i)]);
      SJ_DEQUEUE(queues[static_cast<std::size_t>(i)]);
    }
  }
}

double cpu_s(clockid_t clock) {
  return static_cast<double>(base::read_clock_ns(clock)) / 1e9;
}

double seconds(nanoseconds span) {
  return std::chrono::duration<double>(span).count();
}

struct Round {
  double share = 0;    // of a core
  double process = 0;  // with the writing
  double wakeup_us = 0;
  double pass_us = 0;
  double missed = 0;  // share of the ticks
  double records_per_s = 0;
};

// A thread that only wakes up.
Round bare_timer(nanoseconds period) {
  Round round;
  std::thread([&] {
    prctl(PR_SET_TIMERSLACK, 1UL);
    const std::uint64_t begin_ns = base::monotonic_ns();
    const double before = cpu_s(CLOCK_THREAD_CPUTIME_ID);
    const auto step_ns = static_cast<std::uint64_t>(period.count());
    std::uint64_t next_ns = begin_ns;
    std::uint64_t now_ns = begin_ns;
    std::uint64_t wakeups = 0;
    std::uint64_t missed = 0;
    while (now_ns - begin_ns < static_cast<std::uint64_t>(nanoseconds(kRound).count())) {
      next_ns += step_ns;
      if (next_ns < now_ns) {
        const std::uint64_t late = (now_ns - next_ns) / step_ns + 1;
        missed += late;
        next_ns += late * step_ns;
      }
      const timespec when{.tv_sec = static_cast<time_t>(next_ns / 1'000'000'000),
                          .tv_nsec = static_cast<long>(next_ns % 1'000'000'000)};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
      now_ns = base::monotonic_ns();
      ++wakeups;
    }
    const double spent = cpu_s(CLOCK_THREAD_CPUTIME_ID) - before;
    round.share = round.process = spent / (static_cast<double>(now_ns - begin_ns) / 1e9);
    round.wakeup_us = spent / static_cast<double>(wakeups) * 1e6;
    round.missed = static_cast<double>(missed) / static_cast<double>(wakeups + missed);
  }).join();
  return round;
}

Result<Round> sample(const tracee::Process& process, const capture::QueueSamplerOptions& options) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  SJ_TRY(writer, files::create_trace(path));
  capture::Sink sink(std::make_unique<capture::FileStore>(std::move(writer)));
  capture::CaptureOutput output(sink, {});
  SJ_TRY(sampler, capture::QueueSampler::create(process, options));
  SJ_CHECK(sampler->connect(output));
  SJ_CHECK(sampler->arm());
  const double before = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
  const std::uint64_t open_ns = base::monotonic_ns() + 1'000'000;
  sampler->open_at(open_ns);
  sampler->close_at(open_ns + static_cast<std::uint64_t>(nanoseconds(kRound).count()));
  SJ_CHECK(sampler->settle());
  SJ_CHECK(sink.finish());
  const double spent = cpu_s(CLOCK_PROCESS_CPUTIME_ID) - before;
  SJ_TRY(reader, files::open_trace(path));
  const model::Sampling& totals = reader.sampling();
  const auto passes = static_cast<double>(totals.passes);
  const auto missed = static_cast<double>(totals.missed);
  return Round{.share = static_cast<double>(totals.cpu_ns) / 1e9 / seconds(kRound),
               .process = spent / seconds(kRound),
               .wakeup_us = static_cast<double>(totals.cpu_ns) / passes / 1e3,
               .pass_us = static_cast<double>(totals.pass_ns) / passes / 1e3,
               .missed = missed / (passes + missed),
               .records_per_s = static_cast<double>(reader.events()) / seconds(kRound)};
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

std::string spread(const std::vector<double>& shares) {
  return fmt::format("{:5.1f} % ({:.1f} to {:.1f})", 100 * quantile(shares, 0.5),
                     100 * quantile(shares, 0.25), 100 * quantile(shares, 0.75));
}

struct Row {
  std::vector<double> share, process, wakeup_us, above, pass_us, missed, records;

  void add(const Round& round) {
    share.push_back(round.share);
    process.push_back(round.process);
    wakeup_us.push_back(round.wakeup_us);
    pass_us.push_back(round.pass_us);
    missed.push_back(round.missed);
    records.push_back(round.records_per_s);
  }

  // `per_wakeup` is false if there are no wakeups.
  void print(const std::string& name, bool per_wakeup = true) const {
    fmt::print("{:<20} {:<22} {:<22} {:>9} {:<22} {:>8.2f} {:>7.1f} % {:>10.0f}\n", name,
               spread(share), spread(process),
               per_wakeup ? fmt::format("{:.2f}", quantile(wakeup_us, 0.5)) : "-",
               above.empty() ? "" : spread(above), quantile(pass_us, 0.5),
               100 * quantile(missed, 0.5), quantile(records, 0.5));
  }
};

Result<void> run(int rounds, int moving) {
  test::Child child({"/proc/self/exe", "--target", std::to_string(moving)});
  child.wait_for_ready_line();
  SJ_TRY(process, tracee::Process::open(child.pid()));
  using Mode = model::SamplingMode;
  fmt::print("{} queues, {} of them moving, {} rounds\n", kQueues, moving, rounds);
  fmt::print("{:<20} {:<22} {:<22} {:>9} {:<22} {:>8} {:>9} {:>10}\n", "share of a core", "thread",
             "with the writing", "us/wakeup", "above the bare timer", "us/pass", "missed",
             "records/s");
  for (const microseconds period : {microseconds(50), microseconds(100), microseconds(1000)}) {
    Row bare;
    std::map<Mode, Row> modes;
    for (int round = 0; round < rounds; ++round) {
      const Round timer = bare_timer(period);
      bare.add(timer);
      for (const Mode mode : {Mode::kFixed, Mode::kAdaptive}) {
        SJ_TRY(one, sample(process, {.mode = mode, .period = period, .cpu = -1}));
        modes[mode].add(one);
        if (mode == Mode::kFixed)
          modes[mode].above.push_back((one.wakeup_us - timer.wakeup_us) /
                                      static_cast<double>(period.count()));
      }
    }
    bare.print(fmt::format("bare timer {} us", period.count()));
    for (const auto& [mode, row] : modes)
      row.print(fmt::format("{} {} us", model::name(mode), period.count()));
  }
  Row busy;
  for (int round = 0; round < rounds; ++round) {
    SJ_TRY(one, sample(process, {.mode = Mode::kBusy, .period = microseconds(1), .cpu = 0}));
    busy.add(one);
  }
  busy.print("busy", false);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--target") be_target(std::atoi(argv[2]));
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  const int moving = argc > 2 ? std::clamp(std::atoi(argv[2]), 0, kQueues) : 20;
  if (const auto done = run(rounds, moving); !done) {
    fmt::print(stderr, "sampler-cost: {}\n", done.error().text());
    return 1;
  }
  return 0;
}
