// The size and the speed of the trace format on any trace: `trace-speed run.sjt`. Reads every
// block, writes the same events again, reads the copy merged. Times are CPU time, the best of a few
// rounds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "userspace/files/trace_file.h"

namespace {

using namespace sojourn;

constexpr int kRounds = 5;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double best_of(const std::function<Result<void>()>& work, Result<void>& outcome) {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds && outcome; ++round) {
    const double start = cpu_seconds();
    outcome = work();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

void print(const char* what, double seconds, std::uint64_t events) {
  fmt::print("{:<28} {:6.1f} ns an event   {:6.1f} million events/s\n", what,
             seconds * 1e9 / static_cast<double>(events),
             static_cast<double>(events) / seconds / 1e6);
}

Result<void> measure(const std::string& path) {
  SJ_TRY(reader, files::open_trace(path));
  std::vector<model::EventBatch> batches;
  for (const trace::BlockInfo& block : reader.blocks())
    SJ_CHECK(reader.read(block, batches.emplace_back()));
  if (reader.events() == 0) return fail("{}: has no events", path);

  Result<void> outcome;
  model::EventBatch scratch;
  const double read = best_of(
      [&]() -> Result<void> {
        for (const trace::BlockInfo& block : reader.blocks()) {
          scratch.clear();
          SJ_CHECK(reader.read(block, scratch));
        }
        return {};
      },
      outcome);
  const double merged =
      best_of([&] { return reader.merge([](const model::EventBatch&) { return true; }); }, outcome);

  const std::string copy = path + ".speed";
  const double written = best_of(
      [&]() -> Result<void> {
        SJ_TRY(writer, files::create_trace(copy));
        SJ_CHECK(writer.write(reader.schema()));
        for (const model::EventBatch& batch : batches) SJ_CHECK(writer.write(batch));
        return writer.finish();
      },
      outcome);
  SJ_CHECK(outcome);
  const auto copy_bytes = std::filesystem::file_size(copy);
  std::filesystem::remove(copy);

  fmt::print("{} events in {} blocks, {:.2f} bytes an event\n", reader.events(),
             reader.blocks().size(),
             static_cast<double>(copy_bytes) / static_cast<double>(reader.events()));
  print("write", written, reader.events());
  print("read, block by block", read, reader.events());
  print("read, merged by time", merged, reader.events());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: trace-speed TRACE\n");
    return 2;
  }
  if (const auto done = measure(argv[1]); !done) {
    fmt::print(stderr, "trace-speed: {}\n", done.error().text());
    return 1;
  }
  return 0;
}
