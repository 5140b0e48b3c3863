#include "analysis/metrics/journey_metrics.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/journeys/rules.h"
#include "analysis/model/schema.h"

namespace sojourn::metrics {
namespace {

model::Schema schema_of(const std::vector<const char*>& points) {
  model::Schema schema;
  for (const char* const words : points) {
    auto point = model::parse_point(words, "len:rnti:sn");
    REQUIRE(point);
    schema.points.push_back(*point);
  }
  return schema;
}

journeys::Topology topology_of(const model::Schema& schema) {
  auto topology = journeys::Topology::derive(schema, journeys::Rules{});
  REQUIRE(topology);
  return *topology;
}

const Family& named(const std::vector<Family>& families, std::string_view name) {
  const auto found = std::ranges::find(families, name, &Family::name);
  REQUIRE(found != families.end());
  return *found;
}

double value_of(const Family& family, const Labels& labels) {
  const auto found = std::ranges::find(family.samples, labels, &Sample::labels);
  REQUIRE(found != family.samples.end());
  return std::get<double>(found->value);
}

TEST_CASE("journeys, stays and units inside are counted by direction and place") {
  const model::Schema schema = schema_of({"D ip.in--rlc.tx", "D rlc.tx--phy.out"});
  const journeys::Topology topology = topology_of(schema);
  REQUIRE(topology.places.size() == 1);
  JourneyMetrics figures;
  figures.begin(topology, schema);
  const journeys::CriticalPathSpan leg = {.place = 0, .ns = 3'000'000};
  figures.on_journey({.id = 4,
                      .outcome = journeys::Outcome::kComplete,
                      .start_ns = 1'000'000,
                      .end_ns = 4'000'000,
                      .retransmissions = 2,
                      .critical_path = {&leg, 1}});
  figures.on_journey({.id = 5, .outcome = journeys::Outcome::kDropped, .ambiguous = true});
  figures.on_enter(0, 1'000'000);
  figures.on_enter(0, 1'000'001);
  figures.on_stay({.pair = 0, .entered_ns = 1'000'000, .left_ns = 1'600'000, .values = {}});
  figures.on_leave(0, 1'000'000, 1'600'000, true);

  const auto families = figures.families({});
  const Labels place = {{"direction", "D"}, {"place", "rlc.tx"}};
  const Family& latency = named(families, "sojourn_latency_seconds");
  REQUIRE(latency.samples.size() == 1);
  const auto& times = std::get<LatencyHistogram>(latency.samples.front().value);
  CHECK(times.count() == 1);
  CHECK(times.in_bucket(LatencyHistogram::bucket_of(3'000'000)) == 1);
  CHECK(times.exemplar(LatencyHistogram::bucket_of(3'000'000))->journey == 4);
  const Family& journeys = named(families, "sojourn_journeys");
  CHECK(value_of(journeys, {{"direction", "D"}, {"outcome", "complete"}}) == 1);
  CHECK(value_of(journeys, {{"direction", "D"}, {"outcome", "dropped"}}) == 1);
  CHECK(value_of(journeys, {{"direction", "D"}, {"outcome", "censored"}}) == 0);
  CHECK(value_of(named(families, "sojourn_ambiguous_journeys"), {{"direction", "D"}}) == 1);
  CHECK(value_of(named(families, "sojourn_retransmissions"), {{"direction", "D"}}) == 2);
  CHECK(value_of(named(families, "sojourn_units_inside"), place) == 1);
  const Family& stays = named(families, "sojourn_stay_seconds");
  REQUIRE(stays.samples.size() == 1);
  CHECK(stays.samples.front().labels == place);
  CHECK(std::get<LatencyHistogram>(stays.samples.front().value).sum_ns() == 600'000);
}

TEST_CASE("a rebuild that begins again keeps its counts, and forgets the units inside") {
  const model::Schema schema = schema_of({"D ip.in--rlc.tx", "D rlc.tx--phy.out"});
  const model::Schema larger =
      schema_of({"D ip.in--rlc.tx", "D rlc.tx--phy.out", "U a--b", "U b--c"});
  const journeys::Topology before = topology_of(schema);
  const journeys::Topology after = topology_of(larger);
  JourneyMetrics figures;
  figures.begin(before, schema);
  figures.on_enter(0, 1);
  figures.on_stay({.pair = 0, .entered_ns = 0, .left_ns = 10, .values = {}});
  figures.begin(after, larger);
  const auto families = figures.families({});
  CHECK(value_of(named(families, "sojourn_units_inside"),
                 {{"direction", "D"}, {"place", "rlc.tx"}}) == 0);
  const Family& stays = named(families, "sojourn_stay_seconds");
  REQUIRE(stays.samples.size() == 2);
  CHECK(std::get<LatencyHistogram>(stays.samples.front().value).count() == 1);
}

TEST_CASE("places are bounded, however many a schema has") {
  std::vector<std::string> words;
  for (int point = 0; point < 300; ++point)
    words.push_back("D p" + std::to_string(point) + "--p" + std::to_string(point + 1));
  std::vector<const char*> texts;
  for (const std::string& text : words) texts.push_back(text.c_str());
  const model::Schema schema = schema_of(texts);
  const journeys::Topology topology = topology_of(schema);
  REQUIRE(topology.places.size() > JourneyMetrics::kMaxPlaces);
  JourneyMetrics figures;
  figures.begin(topology, schema);
  for (std::size_t place = 0; place < topology.places.size(); ++place)
    figures.on_enter(static_cast<std::uint16_t>(place), 1);
  CHECK(named(figures.families({}), "sojourn_units_inside").samples.size() ==
        JourneyMetrics::kMaxPlaces);
}

TEST_CASE("metrics of events, their cost, losses and sampled queues") {
  model::Schema schema = schema_of({"D ip.in--rlc.tx"});
  schema.points.push_back(model::queue_sample_point());
  JourneyMetrics figures;
  model::EventBatch events;
  const std::uint64_t packet[] = {100, 1, 1};
  events.append({.ts_ns = 1, .point = 0, .values = packet});
  events.append({.ts_ns = 2, .seq = 1, .point = 0, .values = packet});
  const auto sample = model::QueueSample{.in = 9, .out = 4, .queue = 0x1f}.values();
  events.append({.ts_ns = 3, .point = 1, .values = sample});
  figures.consume(schema, events);
  model::QueueChange change;
  change.about.id = 0x1f;
  change.about.name = "sdus";
  figures.note(model::QueueChanges{change});
  figures.note(
      model::Ledger{{.stream = 0, .point = 0, .cause = model::LossCause::kRingFull, .count = 3},
                    {.stream = 1, .point = 0, .cause = model::LossCause::kRingFull, .count = 4}});
  auto families = figures.families({500'000});
  CHECK(value_of(named(families, "sojourn_events"), {}) == 3);
  CHECK(value_of(named(families, "sojourn_tracing_cost_seconds"), {}) == 1e-6);
  const std::string cause(model::name(model::LossCause::kRingFull));
  CHECK(value_of(named(families, "sojourn_lost_events"), {{"cause", cause}}) == 7);
  CHECK(value_of(named(families, "sojourn_queue_depth"), {{"queue", "sdus"}}) == 5);
  change.about.name = "sdus rnti 0x4601";
  figures.note(model::QueueChanges{change});
  CHECK(value_of(named(figures.families({}), "sojourn_queue_depth"), {{"queue", "sdus"}}) == 5);
  change.event = model::QueueEvent::kEnded;
  figures.note(model::QueueChanges{change});
  CHECK(named(figures.families({}), "sojourn_queue_depth").samples.empty());
}

TEST_CASE("as many UEs as requested have a latency of their own, and the others count as one") {
  const model::Schema schema = schema_of({"D ip.in--rlc.tx", "D rlc.tx--phy.out"});
  const journeys::Topology topology = topology_of(schema);
  JourneyMetrics figures(2);
  CHECK(figures.wants_steps());
  figures.begin(topology, schema);
  const journeys::CriticalPathSpan leg = {.place = 0, .ns = 3'000'000};
  for (const std::uint64_t rnti : {1, 2, 3, 4, 1}) {
    const std::uint64_t values[] = {100, rnti, 7};
    const journeys::Step step = {.point = 0, .values = values};
    figures.on_journey({.outcome = journeys::Outcome::kComplete,
                        .start_ns = 0,
                        .end_ns = 3'000'000,
                        .steps = {&step, 1},
                        .critical_path = {&leg, 1}});
  }
  const auto families = figures.families({});
  const Family& latency = named(families, "sojourn_ue_latency_seconds");
  REQUIRE(latency.samples.size() == 3);
  const auto count = [&](std::size_t at) {
    return std::get<LatencyHistogram>(latency.samples[at].value).count();
  };
  CHECK(latency.samples[0].labels == Labels{{"direction", "D"}, {"ue", "others"}});
  CHECK(count(0) == 2);
  CHECK(latency.samples[1].labels == Labels{{"direction", "D"}, {"ue", "rnti 0x1"}});
  CHECK(count(1) == 2);
  CHECK(count(2) == 1);
  CHECK_FALSE(JourneyMetrics().wants_steps());
}

TEST_CASE("slow packets are counted by direction, cause and place, and places are bounded") {
  JourneyMetrics figures;
  figures.note_slow(model::Direction::kUplink, "cpu", "mac.rx", 2'000'000);
  figures.note_slow(model::Direction::kUplink, "cpu", "mac.rx", 3'000'000);
  for (int place = 0; place < 1000; ++place)
    figures.note_slow(model::Direction::kDownlink, "queue", "p" + std::to_string(place), 1);
  const auto families = figures.families({});
  const Family& packets = named(families, "sojourn_slow_packets");
  const Labels labels = {{"direction", "U"}, {"cause", "cpu"}, {"place", "mac.rx"}};
  CHECK(value_of(packets, labels) == 2);
  CHECK(value_of(named(families, "sojourn_slow_packets_latency_seconds"), labels) == 0.005);
  CHECK(packets.samples.size() == JourneyMetrics::kMaxSlow + 1);
  CHECK(value_of(packets, {{"direction", "D"}, {"cause", "queue"}, {"place", "others"}}) ==
        1001.0 - JourneyMetrics::kMaxSlow);
}

}  // namespace
}  // namespace sojourn::metrics
