// Writes a trace of made-up radio traffic, three threads' streams, of at least EVENTS events, and
// prints their number. Usage: make-trace FILE EVENTS [UES=20] [nanoseconds between events=10000]
// [direction, D or U or DU=DU] [nanoseconds of jitter=0, which a trace's size grows by]
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analysis/trace/writer.h"
#include "tests/bench/radio_traffic.h"
#include "userspace/files/trace_file.h"

namespace sojourn {
namespace {

constexpr std::size_t kBlockEvents = 16'384;

Result<std::uint64_t> make(const std::string& path, std::uint64_t events,
                           std::optional<char> direction, bench::RadioTraffic traffic) {
  SJ_TRY(all, bench::RadioTraffic::schema());
  model::Schema schema;
  std::vector<std::optional<model::PointId>> kept;  // by point of all
  for (const auto& point : all.points) {
    const bool wanted = !direction || model::letter(point.direction) == *direction;
    kept.push_back(wanted ? std::optional(static_cast<model::PointId>(schema.points.size()))
                          : std::nullopt);
    if (wanted) schema.points.push_back(point);
  }
  SJ_TRY(writer, files::create_trace(path));
  SJ_CHECK(writer.write(schema));
  for (std::uint32_t id = 0; id < bench::RadioTraffic::kThreads; ++id)
    SJ_CHECK(writer.write(
        model::Stream{.id = id,
                      .engine = model::Engine::kRing,
                      .tid = static_cast<std::int32_t>(bench::RadioTraffic::kFirstThread + id)}));
  std::array<model::EventBatch, bench::RadioTraffic::kThreads> streams;
  std::array<std::uint64_t, bench::RadioTraffic::kThreads> next_seq = {};
  model::EventBatch batch;
  model::Capture capture;
  capture.engine = model::Engine::kRing;
  std::uint64_t made = 0;
  while (made < events && traffic.fill(batch)) {
    if (capture.open_ns == 0) capture.open_ns = batch.ts_ns().front() - 1;
    capture.close_ns = batch.ts_ns().back() + 1;
    for (std::size_t row = 0; row < batch.size(); ++row) {
      auto event = batch[row];
      if (!kept[event.point]) continue;
      event.point = *kept[event.point];
      ++made;
      event.seq = next_seq[event.stream]++;
      auto& stream = streams[event.stream];
      stream.append(event);
      if (stream.size() < kBlockEvents) continue;
      SJ_CHECK(writer.write(stream));
      stream.clear();
    }
  }
  for (const auto& stream : streams)
    if (!stream.empty()) SJ_CHECK(writer.write(stream));
  SJ_CHECK(writer.write(capture));
  SJ_CHECK(writer.finish());
  return made;
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  const auto number = [&](int index, std::uint64_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  const std::string direction = argc > 5 ? argv[5] : "DU";
  const bool known = direction == "D" || direction == "U" || direction == "DU";
  if (argc < 3 || number(2, 0) == 0 || number(3, 20) == 0 || !known) {
    fmt::print(
        stderr,
        "usage: make-trace FILE EVENTS [UES [NANOSECONDS_BETWEEN_EVENTS [D|U|DU [JITTER]]]]\n");
    return 2;
  }
  const auto only = direction == "DU" ? std::nullopt : std::optional(direction.front());
  const auto made = sojourn::make(argv[1], number(2, 0), only,
                                  {UINT64_MAX, number(3, 20), number(4, 10'000), number(6, 0)});
  if (!made) {
    fmt::print(stderr, "make-trace: {}\n", made.error().text());
    return 1;
  }
  fmt::print("{}\n", *made);
  return 0;
}
