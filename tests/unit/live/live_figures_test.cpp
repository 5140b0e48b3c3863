// Figures of synthetic journeys, with known answers.
#include <memory>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "analysis/live/live_rebuild.h"

namespace sojourn::live {
namespace {

using Catch::Matchers::WithinRel;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kOpen = 5 * kSecond;

// A packet every 80 ms for 0.8 s of each second through two places; `slow` of a second's ten take 9
// ms instead of 1 ms.
struct Traffic {
  explicit Traffic(LiveOptions options = {}, Choice choice = {}) {
    for (const auto* where : {"D in--a", "D a--b", "D b--out"})
      schema.points.push_back(*model::parse_point(where, "len:rnti:sn"));
    capture.open_ns = kOpen;
    auto made = LiveRebuild::create({schema, context, capture, streams, changes, targets},
                                    {.open_ns = kOpen}, kOpen, options, choice);
    REQUIRE(made);
    rebuild = std::move(*made);
  }

  void packet(std::uint64_t at_ns, std::uint64_t in_b_ns) {
    model::EventBatch batch;
    const std::uint64_t values[] = {100, number % 2 + 1, number};
    ++number;
    batch.append({at_ns, seq++, 0, 1, 0, values});
    batch.append({at_ns + 1'000, seq++, 0, 1, 1, values});
    batch.append({at_ns + 1'000 + in_b_ns, seq++, 0, 1, 2, values});
    rebuild->consume(batch);
  }
  // Seconds [from, to) of it.
  void play(std::uint64_t from, std::uint64_t to, int slow) {
    for (std::uint64_t second = from; second < to; ++second)
      for (int packet_of = 0; packet_of < 10; ++packet_of)
        packet(kOpen + second * kSecond + static_cast<std::uint64_t>(packet_of) * 80'000'000 + 1,
               packet_of < slow ? 9'000'000 : 1'000'000);
    settle(kOpen + to * kSecond - 1'000'000);
    rebuild->advance(kOpen + to * kSecond);
  }
  // A packet is reported once events of a while later have come: those of these packets, which stay
  // inside.
  void settle(std::uint64_t ts_ns) {
    for (std::uint64_t other = 0; other < 10; ++other) {
      model::EventBatch batch;
      const std::uint64_t values[] = {100, 3, number++};
      batch.append({ts_ns + other, seq++, 0, 1, 0, values});
      rebuild->consume(batch);
    }
  }
  Snapshot snapshot() const {
    Snapshot made;
    rebuild->fill(made);
    return made;
  }

  model::Schema schema;
  model::Context context;
  model::Capture capture;
  std::vector<model::Stream> streams;
  model::QueueChanges changes;
  std::vector<model::Target> targets = {model::Target{}};
  std::uint64_t number = 0;
  std::uint64_t seq = 0;
  std::unique_ptr<LiveRebuild> rebuild;
};

TEST_CASE("the window has its last seconds, and the start has all") {
  Traffic traffic({.rules = {}, .window_s = 4});
  traffic.play(0, 6, 0);
  traffic.play(6, 8, 5);
  const Snapshot now = traffic.snapshot();
  REQUIRE(now.directions.size() == 1);
  const auto& down = now.directions.front();
  CHECK(down.times.name == "in -> out");
  CHECK(down.complete == 80);
  CHECK(down.times.window.count == 40);
  CHECK(down.times.all.count == 80);
  CHECK_THAT(now.window_s, WithinRel(4.0, 1e-9));
  CHECK_THAT(now.since_s, WithinRel(8.0, 1e-9));
  CHECK_THAT(down.times.window.per_s, WithinRel(10.0, 1e-9));
  // 30 of 40 took 1.001 ms, 10 of them 9.001 ms.
  CHECK_THAT(static_cast<double>(down.times.window.p50_ns), WithinRel(1'001'000.0, 0.005));
  CHECK_THAT(static_cast<double>(down.times.window.p90_ns), WithinRel(9'001'000.0, 0.005));
  CHECK(down.times.window.max_ns == 9'001'000);
  REQUIRE(now.places.size() == 2);
  CHECK(now.places[0].name == "a");
  CHECK(now.places[0].all.count == 80);
  CHECK(now.places[0].all.max_ns == 1'000);
  CHECK(now.places[1].name == "b");
  REQUIRE(now.places[1].p99_by_second.size() == 7);  // the eighth is not over for the places
  CHECK_THAT(static_cast<double>(now.places[1].p99_by_second.back()),
             WithinRel(9'000'000.0, 0.005));
}

TEST_CASE("the number of units in a place is shown, now and at most") {
  Traffic traffic;
  model::EventBatch batch;
  for (std::uint64_t packet = 0; packet < 3; ++packet) {
    const std::uint64_t values[] = {100, 1, 50 + packet};
    batch.append({kOpen + 1 + packet, packet, 0, 1, 0, values});
  }
  const std::uint64_t values[] = {100, 1, 50};
  batch.append({kOpen + 1000, 3, 0, 1, 1, values});
  batch.append({kOpen + 100'000, 4, 0, 1, 2, values});  // earlier events are settled
  traffic.rebuild->consume(batch);
  traffic.rebuild->advance(kOpen + kSecond);
  const Snapshot now = traffic.snapshot();
  REQUIRE_FALSE(now.queues.empty());
  CHECK(now.queues[0].name == "a");
  CHECK(now.queues[0].now == 2);
  CHECK(now.queues[0].max == 3);
  CHECK(now.queues[0].entered == 3);
}

TEST_CASE("a filter counts its journeys from when it was chosen") {
  Traffic traffic;
  traffic.play(0, 2, 0);
  const auto expression = filter::parse("rnti == 2");
  REQUIRE(expression);
  REQUIRE(traffic.rebuild->choose({*expression, "rnti == 2"}));
  CHECK(traffic.snapshot().directions.front().times.all.count == 0);
  traffic.play(2, 4, 0);
  Snapshot now = traffic.snapshot();
  CHECK(now.directions.front().times.all.count == 10);  // each second packet
  CHECK(now.places[1].all.count == 10);
  CHECK_THAT(now.since_s, WithinRel(2.0, 1e-9));
  REQUIRE(traffic.rebuild->choose({}));
  traffic.play(4, 5, 0);
  now = traffic.snapshot();
  CHECK(now.directions.front().times.all.count == 10);
  CHECK(now.places[1].all.count == 10);
}

TEST_CASE("a filter that does not fit the points is refused, and nothing changes") {
  Traffic traffic;
  traffic.play(0, 1, 0);
  CHECK(traffic.snapshot().directions.front().times.all.count == 10);
  const auto expression = filter::parse("nosuchfield == 2");
  REQUIRE(expression);
  CHECK_FALSE(traffic.rebuild->choose({*expression, "nosuchfield == 2"}));
  CHECK(traffic.snapshot().directions.front().times.all.count == 10);
}

TEST_CASE("the slowest packets are shown with the parts of their time") {
  Traffic traffic;
  traffic.play(0, 2, 1);
  traffic.play(2, 3, 0);
  const Snapshot now = traffic.snapshot();
  REQUIRE(now.worst.size() >= 2);
  CHECK(now.worst[0].latency_ns() == 9'001'000);
  CHECK(now.worst[1].latency_ns() == 9'001'000);
  REQUIRE_FALSE(now.worst[0].parts.empty());
  CHECK(now.topology->places[now.worst[0].parts[0].place].name == "b");
}

}  // namespace
}  // namespace sojourn::live
