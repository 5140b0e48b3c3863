// Writes a trace with the scheduler's events: two threads of the target that hand work to each
// other on two CPUs, and a point that one of them hits. Usage: make-scheduled-trace FILE [PROFILE],
// where PROFILE is the output of `sojourn host --json`.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/core.h>

#include "analysis/trace/writer.h"
#include "tests/unit/context/trace.h"
#include "userspace/files/trace_file.h"

namespace sojourn {
namespace {

using namespace context::test;

constexpr std::uint64_t kRound = 1000;
constexpr std::uint64_t kRounds = 8;

// In each round 101 runs on CPU 0 and wakes 102, which gets CPU 1 a little later.
Trace made() {
  Trace trace;
  trace.is_thread(101, "S");
  trace.is_thread(102, "S");
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const std::uint64_t begin = kOpen + round * kRound;
    trace.on_switch(begin + 100, 0, 0, 0, 101);
    trace.add(begin + 200, 0, 101, 0, {});
    trace.wakeup(begin + 300, 102, 101, 0, 1);
    trace.on_switch(begin + 400, 1, 0, 0, 102);
    trace.on_switch(begin + 500, 0, 101, kSleeping, 0);
    trace.on_switch(begin + 700, 1, 102, kSleeping, 0);
  }
  trace.capture.close_ns = kOpen + kRounds * kRound;
  return trace;
}

Result<void> write(const std::string& path, const std::string& profile) {
  const Trace trace = made();
  SJ_TRY(writer, files::create_trace(path));
  SJ_CHECK(writer.write(trace.schema));
  model::Target target;
  target.pid = kPid;
  target.name = "made";
  SJ_CHECK(writer.write(target));
  model::Host host;
  host.kernel = "6.1.0-made";
  host.cpu_model = "A CPU";
  host.cpus = 2;
  host.measured = profile;
  SJ_CHECK(writer.write(host));
  for (const model::Stream& stream : trace.streams) SJ_CHECK(writer.write(stream));
  SJ_CHECK(writer.write(trace.context));
  for (const model::Stream& stream : trace.streams) {
    model::EventBatch events;
    for (std::size_t row = 0; row < trace.events.size(); ++row) {
      model::EventView event = trace.events[row];
      if (event.stream != stream.id) continue;
      event.seq = events.size();
      events.append(event);
    }
    SJ_CHECK(writer.write(events));
  }
  SJ_CHECK(writer.write(trace.capture));
  return writer.finish();
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: make-scheduled-trace FILE [PROFILE]\n");
    return 2;
  }
  std::string profile;
  if (argc == 3) {
    std::ifstream file(argv[2]);
    profile.assign(std::istreambuf_iterator<char>(file), {});
    if (!file || profile.empty()) {
      fmt::print(stderr, "make-scheduled-trace: cannot read {}\n", argv[2]);
      return 1;
    }
  }
  const auto written = sojourn::write(argv[1], profile);
  if (written) return 0;
  fmt::print(stderr, "make-scheduled-trace: {}\n", written.error().text());
  return 1;
}
