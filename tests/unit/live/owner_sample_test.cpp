// The owners whose events are kept. Kept streams have gaps only where events were lost.
#include "analysis/live/owner_sample.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/journeys/rules.h"
#include "analysis/model/schema.h"

namespace sojourn::live {
namespace {

std::shared_ptr<const journeys::Topology> topology_of(const std::vector<std::string>& fields) {
  const std::vector<std::string> points = {"D in--a", "D a--out", "I slot"};
  model::Schema schema;
  for (std::size_t point = 0; point < fields.size(); ++point)
    schema.points.push_back(*model::parse_point(points[point], fields[point]));
  auto topology = journeys::Topology::derive(schema, journeys::Rules{});
  REQUIRE(topology);
  return std::make_shared<const journeys::Topology>(std::move(*topology));
}

OwnerSample sample_of_ues() {
  auto sample = OwnerSample::of(topology_of({"len:rnti:sn", "len:rnti:sn"}));
  REQUIRE(sample);
  return std::move(*sample);
}

// `each` events of each UE in one stream, taking turns. Their sequence numbers go on.
model::EventBatch events_of(std::uint64_t ues, std::uint64_t each, std::uint64_t& seq) {
  model::EventBatch events;
  for (std::uint64_t at = 0; at < ues * each; ++at) {
    const std::uint64_t values[] = {100, 0x4601 + at % ues, at};
    events.append({seq, seq, 3, 1, 0, values});
    ++seq;
  }
  return events;
}

std::set<std::uint64_t> ues_in(const model::EventBatch& events) {
  std::set<std::uint64_t> ues;
  for (std::size_t row = 0; row < events.size(); ++row) ues.insert(events[row].values[1]);
  return ues;
}

TEST_CASE("points that do not all name the UE cannot be sampled") {
  CHECK_FALSE(OwnerSample::of(topology_of({"len:teid:sn", "len:rnti:sn"})));
  CHECK_FALSE(OwnerSample::of(topology_of({"len::sn", "len::sn"})));
}

TEST_CASE("all events of a UE are kept, or none; about as many as requested") {
  OwnerSample sample = sample_of_ues();
  std::uint64_t seq = 0;
  model::EventBatch first = events_of(40, 100, seq);
  sample.pass(first);
  CHECK(first.size() == 4000);  // all, until somebody chooses
  CHECK(sample.keeps_all());
  sample.keep(0.25);
  CHECK_FALSE(sample.keeps_all());
  model::EventBatch events = events_of(40, 100, seq);
  sample.pass(events);
  const std::size_t ues = ues_in(events).size();
  CHECK(events.size() == ues * 100);
  CHECK(ues >= 9);
  CHECK(ues <= 11);
  CHECK(sample.kept() == ues);
  CHECK(sample.owners() == 40);
  CHECK(sample.kept_share() == static_cast<double>(ues) / 40);
  CHECK(sample.taken_out() == std::vector<std::uint64_t>{4000 - events.size(), 0});
  // The same owners are kept in the next batch.
  model::EventBatch more = events_of(40, 10, seq);
  sample.pass(more);
  CHECK(ues_in(more) == ues_in(events));
}

TEST_CASE("at least one UE is kept, and all of them for a share of 1") {
  OwnerSample sample = sample_of_ues();
  std::uint64_t seq = 0;
  model::EventBatch events = events_of(4, 100, seq);
  sample.pass(events);
  sample.keep(0.0001);
  events = events_of(4, 100, seq);
  sample.pass(events);
  CHECK(ues_in(events).size() == 1);
  sample.keep(1);
  events = events_of(4, 100, seq);
  sample.pass(events);
  CHECK(events.size() == 400);
}

TEST_CASE("sequence numbers close up over removed events, and a loss is still a gap") {
  OwnerSample sample = sample_of_ues();
  std::uint64_t seq = 0;
  model::EventBatch events = events_of(10, 10, seq);
  sample.pass(events);
  sample.keep(0.5);
  events = events_of(10, 10, seq);
  sample.pass(events);
  for (std::size_t row = 1; row < events.size(); ++row)
    CHECK(events.seq()[row] == events.seq()[row - 1] + 1);
  const std::uint64_t last = events.seq().back();
  const std::uint64_t behind = seq - 1 - events.ts_ns().back();  // and taken out
  seq += 7;
  model::EventBatch after = events_of(10, 10, seq);
  const std::uint64_t first_ns = after.ts_ns().front();
  sample.pass(after);
  const std::uint64_t before = after.ts_ns().front() - first_ns;  // taken out as well
  CHECK(after.seq().front() == last + 1 + 7);
  CHECK(behind + before < 10);
}

}  // namespace
}  // namespace sojourn::live
