// Journeys that are rebuilt while their events come, against those of the finished trace.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/core.h>

#include "analysis/journeys/live_rebuilder.h"
#include "tests/unit/journeys/random_radio.h"

namespace sojourn::journeys {
namespace {

constexpr std::uint32_t kStreams = 4;

struct Words final : Observer {
  void on_journey(const Journey& journey) override {
    words.push_back(fmt::format("{} {} {}..{} {} steps {} {}", journey.id,
                                model::letter(journey.direction), journey.start_ns, journey.end_ns,
                                journey.steps.size(), name(journey.outcome), journey.ambiguous));
  }
  std::vector<std::string> words;
};

// Traffic whose events are in several streams, each in its own order.
struct Traffic {
  explicit Traffic(std::uint32_t seed) : truth(random_radio({.seed = seed})) {
    for (const auto& point : truth.points)
      schema.points.push_back(*model::parse_point(point.where, point.fields));
    streams.resize(kStreams);
    std::vector<std::uint64_t> next(kStreams);
    for (const auto& hit : truth.hits) {
      const auto stream = static_cast<std::uint32_t>(hit.point % kStreams);
      const model::EventView event = {.ts_ns = hit.before_ns,
                                      .seq = next[stream]++,
                                      .stream = stream,
                                      .tid = stream,
                                      .point = static_cast<model::PointId>(hit.point),
                                      .values = hit.values};
      streams[stream].append(event);
      all.append(event);
    }
  }

  std::vector<std::string> rebuilt_whole() const {
    Words words;
    auto rebuilder = Rebuilder::create(schema, {}, {.open_ns = 1}, words);
    REQUIRE(rebuilder);
    rebuilder->consume(all);
    rebuilder->finish();
    return words.words;
  }

  truth::Truth truth;
  model::Schema schema;
  std::vector<model::EventBatch> streams;
  model::EventBatch all;
};

TEST_CASE("journeys that are rebuilt live are those of the whole trace") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const Traffic traffic(seed);
    Words words;
    auto live = LiveRebuilder::create(traffic.schema, {}, {.open_ns = 1}, words);
    REQUIRE(live);
    std::mt19937 random(seed);
    std::vector<std::size_t> taken(kStreams);
    std::size_t most_waiting = 0;
    for (std::size_t open = kStreams; open != 0;) {
      const std::size_t stream = random() % kStreams;
      const model::EventBatch& events = traffic.streams[stream];
      const std::size_t rows = std::min<std::size_t>(random() % 50, events.size() - taken[stream]);
      model::EventBatch batch;
      batch.append(events, taken[stream], rows);
      taken[stream] += rows;
      live->take(batch);
      std::uint64_t told_ns = UINT64_MAX;  // every stream has delivered everything up to here
      open = 0;
      for (std::size_t s = 0; s < kStreams; ++s) {
        if (taken[s] == traffic.streams[s].size()) continue;
        told_ns = std::min(told_ns, traffic.streams[s].ts_ns()[taken[s]]);
        ++open;
      }
      if (open != 0) live->advance(told_ns);
      most_waiting = std::max(most_waiting, live->waiting());
    }
    live->finish();
    CHECK(live->late() == 0);
    CHECK(most_waiting < traffic.all.size());
    CHECK(words.words.size() > 100);
    CHECK(words.words == traffic.rebuilt_whole());
  }
}

TEST_CASE("events behind the watermark are counted and never put among older ones") {
  const Traffic traffic(7);
  Words words;
  auto live = LiveRebuilder::create(traffic.schema, {}, {.open_ns = 1}, words);
  REQUIRE(live);
  live->take(traffic.streams[0]);
  live->advance(traffic.all.ts_ns().back() + 1);
  std::uint64_t late = 0;
  for (std::size_t stream = 1; stream < kStreams; ++stream) {
    live->take(traffic.streams[stream]);
    late += traffic.streams[stream].size();
  }
  CHECK(live->late() == late);
  CHECK(live->waiting() == 0);
  live->finish();
}

}  // namespace
}  // namespace sojourn::journeys
