// How many events a second pass through a script, beside reading alone: `script-speed-program
// run.sjt script.lua...`. Rounds alternate. The processor time of this process and of the script's
// worker together, and the time of the clock, which is longer where others use the processors. The
// median of the rounds, and the half of them that lies about it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "analysis/trace/reader.h"
#include "userspace/files/text_file.h"
#include "userspace/files/trace_file.h"
#include "userspace/scripts/script_stage.h"

namespace {

using namespace sojourn;

constexpr int kRounds = 9;

// A process has used it since it began.
double processor_ns(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

// Nanoseconds an event.
struct Times {
  double processor = 0;
  double clock = 0;
};

// Each pass has a worker of its own, so all of the worker's time belongs to this pass.
Result<Times> read_all(trace::Reader& reader, const scripts::ScriptStage* stage) {
  const auto start = std::chrono::steady_clock::now();
  const double before = processor_ns(getpid());
  SJ_CHECK(reader.merge([](model::EventBatch&) { return true; }));
  double used = processor_ns(getpid()) - before;
  if (stage != nullptr) used += processor_ns(stage->worker_pid());
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  const auto events = static_cast<double>(std::max<std::uint64_t>(reader.events(), 1));
  return Times{.processor = used / events, .clock = took.count() / events};
}

std::string words(std::vector<double> times) {
  std::ranges::sort(times);
  const auto at = [&](std::size_t quarter) { return times[quarter * (times.size() - 1) / 4]; };
  return fmt::format("{:6.1f} ns ({:.1f} .. {:.1f}), {:.2f} million events/s", at(2), at(1), at(3),
                     1e3 / at(2));
}

void print(const std::string& what, const std::vector<Times>& rounds) {
  std::vector<double> processor;
  std::vector<double> clock;
  for (const Times& one : rounds) {
    processor.push_back(one.processor);
    clock.push_back(one.clock);
  }
  fmt::print("{:<14} processor {}   clock {}\n", what, words(std::move(processor)),
             words(std::move(clock)));
}

Result<void> measure(const std::string& path, const std::string& script) {
  SJ_TRY(text, files::read_text(script, "script is"));
  SJ_TRY(plain, files::open_trace(path));
  SJ_TRY(scripted, files::open_trace(path));
  const std::string name = script.substr(script.rfind('/') + 1);
  SJ_TRY(stage, scripts::ScriptStage::create({.name = name, .text = std::move(text)},
                                             plain.schema(), plain.capture().open_ns, nullptr));
  scripted.set_stage(stage);
  std::vector<Times> alone;
  std::vector<Times> together;
  for (int round = 0; round < kRounds; ++round) {
    SJ_TRY(without, read_all(plain, nullptr));
    SJ_TRY(with, read_all(scripted, stage.get()));
    alone.push_back(without);
    together.push_back(with);
  }
  print("reading alone", alone);
  print(name, together);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  for (int at = 2; at < argc; ++at)
    if (const auto done = measure(argv[1], argv[at]); !done) {
      fmt::print(stderr, "script-speed: {}\n", done.error().text());
      return 1;
    }
  return 0;
}
