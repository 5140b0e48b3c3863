#include "tests/live/point_hits.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::live {

namespace {

// Calls take(event) for each event of the point.
template <typename Take>
void each_hit(trace::Reader& reader, const std::string& point, Take take) {
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      if (reader.schema().points[batch.point()[row]].name() == point) take(batch[row]);
    return true;
  }));
}

void add(Hits& hits, const model::EventView& event, std::size_t value) {
  if (hits.counts.empty()) hits.first_ns = event.ts_ns;
  hits.counts.push_back(event.values[value]);
}

}  // namespace

Hits hits_of(trace::Reader& reader, const std::string& point, std::size_t value) {
  Hits hits;
  each_hit(reader, point, [&](const model::EventView& event) { add(hits, event, value); });
  return hits;
}

std::map<pid_t, Hits> hits_by_process(trace::Reader& reader, const std::string& point,
                                      std::size_t value) {
  std::map<std::uint32_t, pid_t> pid_of_stream;
  for (const model::Stream& stream : reader.streams()) pid_of_stream[stream.id] = stream.pid;
  std::map<pid_t, Hits> all;
  each_hit(reader, point, [&](const model::EventView& event) {
    add(all[pid_of_stream.at(event.stream)], event, value);
  });
  CHECK(reader.gaps().empty());
  CHECK(reader.ledger().empty());
  return all;
}

bool is_gapless(const Hits& hits) {
  return std::ranges::adjacent_find(hits.counts, [](auto a, auto b) { return b != a + 1; }) ==
         hits.counts.end();
}

}  // namespace sojourn::live
