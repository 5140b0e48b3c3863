#include "tests/live/point_counts.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/live/truth_pairing.h"

namespace sojourn::live {

PointCounts count_points(trace::Reader& reader) {
  PointCounts counts;
  const model::Capture& capture = reader.capture();
  const auto name = [&](model::PointId id) {
    const model::Point& point = reader.schema().points.at(id);
    return std::string(1, letter(point.direction)) + " " + point.name();
  };
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const std::uint64_t ts_ns = batch.ts_ns()[row];
      if (ts_ns >= capture.open_ns && (capture.close_ns == 0 || ts_ns < capture.close_ns))
        ++counts.kept[name(batch.point()[row])];
    }
    return true;
  }));
  for (const model::LedgerEntry& entry : reader.ledger()) {
    counts.lost[name(entry.point)] += entry.count;
    counts.lost_in_all += entry.count;
  }
  return counts;
}

void check_counts(const PointCounts& counts, const truth::Truth& truth,
                  const model::Capture& capture) {
  const auto of = [](const std::map<std::string, std::uint64_t>& by_name, const std::string& name) {
    const auto found = by_name.find(name);
    return found == by_name.end() ? 0 : found->second;
  };
  const std::vector<HitCount> hits = count_hits(truth, capture, capture.stamp_error_ns);
  for (std::size_t point = 0; point < truth.points.size(); ++point) {
    const std::string& name = truth.points[point].where;
    CAPTURE(name, of(counts.kept, name), of(counts.lost, name));
    CHECK(of(counts.kept, name) + of(counts.lost, name) >= hits[point].least);
    CHECK(of(counts.kept, name) + of(counts.lost, name) <= hits[point].most);
  }
}

void check_gaps(const trace::Reader& reader) {
  std::map<std::uint32_t, std::uint64_t> missing;
  for (const trace::Gap& gap : reader.gaps()) missing[gap.stream] += gap.count;
  std::map<std::uint32_t, std::uint64_t> lost;
  for (const model::LedgerEntry& entry : reader.ledger()) lost[entry.stream] += entry.count;
  CHECK(!missing.empty());
  for (const auto& [stream, count] : missing) {
    CAPTURE(stream, count, lost[stream]);
    CHECK(count <= lost[stream]);
  }
}

}  // namespace sojourn::live
