// Losses, forced by buffers that are too small and looked into too seldom.
#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/live/programs.h"
#include "tests/live/truth_pairing.h"

namespace sojourn::live {
namespace {

std::map<std::string, std::uint64_t> kept_by_point(trace::Reader& reader) {
  std::map<std::string, std::uint64_t> kept;
  const model::Schema& schema = reader.schema();
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (const model::PointId point : batch.point())
      ++kept[std::string(1, letter(schema.points[point].direction)) + " " +
             schema.points[point].name()];
    return true;
  }));
  return kept;
}

std::map<std::string, std::uint64_t> lost_by_point(const trace::Reader& reader) {
  std::map<std::string, std::uint64_t> lost;
  for (const model::LedgerEntry& entry : reader.ledger()) {
    const model::Point& point = reader.schema().points.at(entry.point);
    lost[std::string(1, letter(point.direction)) + " " + point.name()] += entry.count;
  }
  return lost;
}

TEST_CASE("every hit is in the trace or in the ledger, point by point") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--air-loss", "0.1"});
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--attach", attach, "--ring-size", "64K", "--poll", "100"});
  const truth::Truth truth = station.finish();

  trace::Reader reader = open_trace(trace);
  auto kept = kept_by_point(reader);
  auto lost = lost_by_point(reader);
  std::uint64_t lost_in_all = 0;
  for (const auto& [point, count] : lost) lost_in_all += count;
  REQUIRE(lost_in_all > 1000);

  const std::vector<HitCount> hits = count_hits(truth, reader.capture());
  for (std::size_t point = 0; point < truth.points.size(); ++point) {
    const std::string& name = truth.points[point].where;
    CAPTURE(name, kept[name], lost[name]);
    CHECK(kept[name] + lost[name] >= hits[point].least);
    CHECK(kept[name] + lost[name] <= hits[point].most);
  }
}

TEST_CASE("each stream's missing sequence numbers are the ledger's losses of that stream") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--ring-size", "64K", "--poll", "100"});
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.merge([](const model::EventBatch&) { return true; }));
  std::map<std::uint32_t, std::uint64_t> missing;
  for (const trace::Gap& gap : reader.gaps()) missing[gap.stream] += gap.count;
  std::map<std::uint32_t, std::uint64_t> lost;
  for (const model::LedgerEntry& entry : reader.ledger()) lost[entry.stream] += entry.count;
  REQUIRE(!lost.empty());
  for (const auto& [stream, count] : lost) {
    CAPTURE(stream, count, missing[stream]);
    // What was lost after a stream's last kept event leaves no gap.
    CHECK(missing[stream] <= count);
    CHECK(missing[stream] > 0);
  }
}

}  // namespace
}  // namespace sojourn::live
