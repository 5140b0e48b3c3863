// The cost of filtering beside reading, on any trace: `filter-speed run.sjt [EXPR...]`. Rounds
// alternate between reading every block and reading and filtering it, so that disturbances affect
// both alike; the filter alone runs over batches that were read before. Times are CPU time: the
// median of the rounds, and their middle half.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analysis/filter/event_filter.h"
#include "analysis/trace/reader.h"
#include "userspace/files/trace_file.h"

namespace {

using namespace sojourn;

constexpr int kRounds = 21;

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Work>
Result<double> time_of(const Work& work) {
  const double start = cpu_ns();
  SJ_CHECK(work());
  return cpu_ns() - start;
}

filter::ThreadNames thread_names(const trace::Reader& reader) {
  filter::ThreadNames names;
  for (const model::ContextName& name : reader.context().names)
    if (name.kind == model::NameKind::kThread)
      names[static_cast<std::uint32_t>(name.id)] = name.name;
  return names;
}

void print(const std::string& what, std::vector<double> times, std::uint64_t events) {
  std::ranges::sort(times);
  const auto at = [&](std::size_t quarter) {
    return times[quarter * (times.size() - 1) / 4] / static_cast<double>(events);
  };
  fmt::print("{:<52} {:6.2f} ns an event   {:6.2f} .. {:.2f}\n", what, at(2), at(1), at(3));
}

Result<void> measure(trace::Reader& reader, const std::string& text) {
  SJ_TRY(expression, filter::parse(text));
  SJ_TRY(filter, filter::EventFilter::compile(expression, reader.schema(),
                                              {.origin_ns = reader.capture().open_ns,
                                               .streams = reader.streams(),
                                               .threads = thread_names(reader)}));
  std::vector<std::uint32_t> rows;
  model::EventBatch batch;
  std::uint64_t matched = 0;
  const auto read = [&](bool filters) -> Result<void> {
    for (const trace::BlockInfo& block : reader.blocks()) {
      batch.clear();
      SJ_CHECK(reader.read(block, batch));
      if (!filters) continue;
      rows.clear();
      filter.select(batch, rows);
      matched += rows.size();
    }
    return {};
  };
  std::vector<double> reading;
  std::vector<double> both;
  for (int round = 0; round < kRounds; ++round) {
    SJ_TRY(alone, time_of([&] { return read(false); }));
    SJ_TRY(together, time_of([&] { return read(true); }));
    reading.push_back(alone);
    both.push_back(together);
  }

  std::vector<model::EventBatch> batches;
  for (const trace::BlockInfo& block : reader.blocks())
    SJ_CHECK(reader.read(block, batches.emplace_back()));
  std::vector<double> filtering;
  for (int round = 0; round < kRounds; ++round) {
    SJ_TRY(alone, time_of([&]() -> Result<void> {
             for (const model::EventBatch& one : batches) {
               rows.clear();
               filter.select(one, rows);
             }
             return {};
           }));
    filtering.push_back(alone);
  }
  fmt::print("{}   keeps {:.1f} %\n", text,
             100.0 * static_cast<double>(matched) / kRounds / static_cast<double>(reader.events()));
  print("  read", reading, reader.events());
  print("  read and filter", both, reader.events());
  print("  filter alone", filtering, reader.events());
  return {};
}

Result<void> run(int argc, char** argv) {
  SJ_TRY(reader, files::open_trace(argv[1]));
  if (reader.events() == 0) return fail("{}: has no events", argv[1]);
  std::vector<std::string> expressions(argv + 2, argv + argc);
  if (expressions.empty())
    expressions = {"dir == D", "rnti == 0x4601", "rnti in {0x4601..0x4603, 0x4607} && len > 1k",
                   "point ~ rlc.* && (len > 1k || rnti != 0x4601) || time > 1s",
                   "len * 8 / 1k >= 1"};
  for (const std::string& expression : expressions) SJ_CHECK(measure(reader, expression));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: filter-speed run.sjt [EXPR...]\n");
    return 2;
  }
  if (const auto done = run(argc, argv); !done) {
    fmt::print(stderr, "filter-speed: {}\n", done.error().text());
    return 1;
  }
  return 0;
}
