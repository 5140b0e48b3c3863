// Traces of known truth: what tracing put between two events, and the times of a pipeline with and
// without it.
#include "analysis/report/tracing_cost.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/journeys/rebuilder.h"
#include "analysis/report/summary.h"

namespace sojourn::report {
namespace {

constexpr std::uint64_t kHitNs = 500;

model::Schema schema_of(std::initializer_list<std::pair<const char*, const char*>> points) {
  model::Schema schema;
  for (const auto& [where, fields] : points)
    schema.points.push_back(*model::parse_point(where, fields));
  return schema;
}

// Three points of one cost, on threads 1 and 2.
class Hits {
 public:
  explicit Hits(std::vector<std::uint64_t> costs_ps = {kHitNs * 1000, kHitNs * 1000, 2'000'000})
      : tracing_(schema_of({{"D a--b", "::n"}, {"D b--c", "::n"}, {"I work", "n::"}}),
                 capture_of(std::move(costs_ps))) {}

  void hit(std::uint64_t ts_ns, std::uint32_t tid, model::PointId point = 0) {
    model::EventBatch batch;
    const std::uint64_t value = 1;
    batch.append({ts_ns, seq_++, 0, tid, point, std::span(&value, 1)});
    tracing_.consume(batch);
  }
  std::uint64_t inside(std::uint64_t entered_ns, std::uint32_t entered_by, std::uint64_t left_ns,
                       std::uint32_t left_by) {
    return tracing_.inside_ns({.entered_ns = entered_ns,
                               .left_ns = left_ns,
                               .entered_by = entered_by,
                               .left_by = left_by});
  }
  TracingCost& tracing() { return tracing_; }

 private:
  static model::Capture capture_of(std::vector<std::uint64_t> costs_ps) {
    model::Capture capture;
    capture.hit_cost_ps = std::move(costs_ps);
    return capture;
  }

  TracingCost tracing_;
  std::uint64_t seq_ = 0;
};

TEST_CASE(
    "on one thread all hits from the one that entered on are inside, the one that left is not") {
  Hits hits;
  hits.hit(1000, 1);
  hits.hit(5000, 1, 2);  // another point's, at its own cost
  hits.hit(6000, 2);     // another thread's
  hits.hit(9000, 1, 1);
  CHECK(hits.inside(1000, 1, 9000, 1) == 500 + 2000);
  CHECK(hits.inside(5000, 1, 9000, 1) == 2000);
}

TEST_CASE("a hand-over to a thread that waits is later by the hit before it") {
  Hits hits;
  hits.hit(1000, 2);
  hits.hit(8000, 1);
  hits.hit(12'000, 2, 1);
  CHECK(hits.inside(8000, 1, 12'000, 2) == 500);
}

TEST_CASE("a unit waits behind the hits of the thread that takes it, and not behind others") {
  Hits hits;
  hits.hit(7000, 2);
  hits.hit(8000, 1);
  hits.hit(9000, 2);
  hits.hit(9500, 1);  // the giver's own next ones
  hits.hit(9900, 3);
  hits.hit(10'000, 2, 2);
  hits.hit(14'000, 2, 1);
  CHECK(hits.inside(8000, 1, 14'000, 2) == 500 + 2000);
}

TEST_CASE("a thread's actions before a pause delay nothing behind the pause") {
  Hits hits;
  const std::uint64_t woken_ns = 20'000 + TracingCost::kPauseNs;
  hits.hit(8000, 1);
  for (std::uint64_t ns = 10'000; ns < 18'000; ns += 1000) hits.hit(ns, 2, 2);
  hits.hit(woken_ns, 2, 2);
  hits.hit(woken_ns + 4000, 2, 1);
  CHECK(hits.inside(8000, 1, woken_ns + 4000, 2) == 2000);
  // On one thread the hit at which it entered is inside all the same.
  CHECK(hits.inside(10'000, 2, woken_ns + 4000, 2) == 2000 + 2000);
}

TEST_CASE("if there are events of the scheduler, they show when a thread waited") {
  model::Schema schema = schema_of({{"D a--b", "::n"}, {"D b--c", "::n"}});
  schema.points.push_back({.direction = model::Direction::kContext,
                           .src = "sched.switch",
                           .dest = {},
                           .fields = {{.name = "prev"},
                                      {.name = "prev_pid"},
                                      {.name = "state"},
                                      {.name = "next"},
                                      {.name = "next_pid"}},
                           .file = {}});
  model::Capture capture;
  capture.hit_cost_ps = {500'000, 500'000, 0};
  TracingCost tracing(schema, capture);
  std::uint64_t seq = 0;
  const auto event = [&](std::uint64_t ts_ns, std::uint32_t tid, model::PointId point,
                         std::vector<std::uint64_t> values) {
    model::EventBatch batch;
    batch.append({ts_ns, seq++, 0, tid, point, values});
    tracing.consume(batch);
  };
  const auto inside = [&](std::uint64_t from_ns, std::uint64_t to_ns) {
    return tracing.inside_ns(
        {.entered_ns = from_ns, .left_ns = to_ns, .entered_by = 1, .left_by = 2});
  };
  event(500, 1, 0, {1});
  event(1000, 2, 0, {1});
  event(2000, 0, 2, {2, 7, 0x100, 3, 7});  // it lost its CPU, which is no wait
  event(900'000, 2, 0, {1});
  event(950'000, 2, 1, {1});
  CHECK(inside(500, 950'000) == 1000);
  event(960'000, 0, 2, {2, 7, 1, 3, 7});  // it sleeps
  event(970'000, 2, 0, {1});
  event(980'000, 2, 1, {1});
  CHECK(inside(500, 980'000) == 500);
}

TEST_CASE("more than a stay took is never tracing") {
  Hits hits;
  hits.hit(1000, 1, 2);
  hits.hit(1300, 1);
  CHECK(hits.inside(1000, 1, 1300, 1) == 300);
}

TEST_CASE("without costs, for unknown hits, and in reverse order there is no result") {
  CHECK_FALSE(TracingCost().is_known());
  CHECK_FALSE(Hits({0, 0, 0}).tracing().is_known());
  Hits hits;
  CHECK(hits.inside(1000, 1, 9000, 1) == 0);
  hits.hit(1000, 1);
  hits.hit(2000, 1);
  CHECK(hits.inside(2000, 1, 1000, 1) == 0);
  CHECK(hits.inside(1000, 7, 1500, 8) == 0);
}

TEST_CASE("a cost that was measured too badly is not known") {
  const model::Schema schema = schema_of({{"D a--b", "::n"}, {"D b--c", "::n"}});
  model::Capture capture;
  capture.hit_cost_ps = {500'000, 500'000};
  capture.hit_spread_ps = {250'001, 300'000};
  CHECK_FALSE(TracingCost(schema, capture).is_known());
  capture.hit_spread_ps = {250'001, 250'000};
  CHECK(TracingCost(schema, capture).is_known());
}

TEST_CASE("hits that are too old are forgotten, and counted") {
  Hits hits;
  std::uint64_t ns = 1000;
  const std::uint64_t first_ns = ns;
  for (; ns < TracingCost::kKeptNs + 20'000'000; ns += 50'000) hits.hit(ns, 1);
  ns -= 50'000;
  CHECK(hits.inside(ns - 100'000, 1, ns, 1) == 1000);
  CHECK(hits.tracing().forgotten() == 0);
  CHECK(hits.inside(first_ns, 1, ns, 1) > 0);
  CHECK(hits.tracing().forgotten() == 1);
}

// Two threads with a queue between: the first takes packets from outside, the second those of the
// first. Both wait if there are none; every point is a trap of `hit_ns`.
struct Pipeline {
  std::uint64_t hit_ns = 0;
  std::uint64_t interval_ns = 0;  // between packets, on average
  std::size_t burst = 1;

  static constexpr std::uint64_t kWakeNs = 4000;
  static constexpr std::uint64_t kTakeNs = 3000;
  static constexpr std::uint64_t kWorkNs = 8000;

  struct Event {
    std::uint64_t ts_ns = 0;
    std::uint32_t tid = 0;
    model::PointId point = 0;
    std::uint64_t packet = 0;
  };

  // In time order.
  std::vector<Event> run(std::size_t packets) const {
    std::vector<Event> events;
    std::minstd_rand random(3);
    std::exponential_distribution<double> pause(1.0 / static_cast<double>(interval_ns * burst));
    std::uniform_int_distribution<std::uint64_t> work(kWorkNs / 2, kWorkNs * 3 / 2);
    std::uint64_t comes_ns = 1'000'000;
    std::uint64_t first_free_ns = 0;
    std::uint64_t second_free_ns = 0;
    for (std::uint64_t packet = 0; packet < packets; ++packet) {
      if (packet % burst == 0) comes_ns += static_cast<std::uint64_t>(pause(random));
      const auto hit = [&](std::uint64_t& now_ns, std::uint32_t tid, model::PointId point) {
        events.push_back({now_ns, tid, point, packet});
        now_ns += hit_ns;
      };
      std::uint64_t now_ns = std::max(comes_ns + kWakeNs, first_free_ns);
      hit(now_ns, 1, 0);
      now_ns += kTakeNs;
      hit(now_ns, 1, 1);
      first_free_ns = now_ns;
      now_ns = std::max(now_ns + kWakeNs, second_free_ns);
      hit(now_ns, 2, 2);
      now_ns += work(random);
      hit(now_ns, 2, 3);
      second_free_ns = now_ns;
    }
    std::ranges::stable_sort(events, {}, &Event::ts_ns);
    return events;
  }
};

struct Times {
  // For the hops in the first thread, the queue, the second thread, and whole journeys.
  std::vector<std::uint64_t> p50;
  std::vector<std::uint64_t> p99;
};

Times times_of(const Pipeline& pipeline, bool net) {
  const model::Schema schema = schema_of({{"D in--take", "::n"},
                                          {"D take--line", "::n"},
                                          {"D line--work", "::n"},
                                          {"D work--out", "::n"}});
  model::Capture capture;
  capture.hit_cost_ps.assign(4, pipeline.hit_ns * 1000);
  const journeys::Rules rules;
  const auto topology = *journeys::Topology::derive(schema, rules);
  Summary summary(topology, 0, TracingCost(schema, capture));
  auto rebuilder = *journeys::Rebuilder::create(schema, rules, {}, summary);
  model::EventBatch batch;
  std::uint64_t seq = 0;
  for (const Pipeline::Event& event : pipeline.run(20'000))
    batch.append({event.ts_ns, seq++, 0, event.tid, event.point, std::span(&event.packet, 1)});
  rebuilder.consume(batch);
  rebuilder.finish();
  Times times;
  const auto add = [&](const statistics::Distribution& distribution) {
    REQUIRE(distribution.count() == 20'000);
    times.p50.push_back(distribution.quantile(0.5));
    times.p99.push_back(distribution.quantile(0.99));
  };
  for (model::PointId point = 0; point + 1 < 4; ++point) {
    const std::uint32_t pair = topology.pair_index(point, static_cast<model::PointId>(point + 1));
    add(net ? summary.net_hop(pair) : summary.hop(pair));
  }
  const auto& down = summary.direction(model::Direction::kDownlink);
  add(net ? down.net_latency_ns : down.latency_ns);
  CHECK(summary.forgotten() == 0);
  return times;
}

std::uint64_t difference(std::uint64_t one, std::uint64_t other) {
  return std::max(one, other) - std::min(one, other);
}

TEST_CASE("a pipeline that is seldom busy has the times that it has untraced") {
  const Times truth = times_of({.hit_ns = 0, .interval_ns = 200'000}, false);
  for (const std::uint64_t hit_ns : {500, 5000}) {
    CAPTURE(hit_ns);
    const Pipeline traced{.hit_ns = hit_ns, .interval_ns = 200'000};
    const Times measured = times_of(traced, false);
    const Times net = times_of(traced, true);
    CHECK(measured.p50[3] >= truth.p50[3] + 3 * hit_ns);
    // When packets met, one waited behind another's hits.
    for (std::size_t row = 0; row < net.p50.size(); ++row) {
      CAPTURE(row);
      CHECK(difference(net.p50[row], truth.p50[row]) <= hit_ns / 20);
      CHECK(difference(net.p99[row], truth.p99[row]) <= hit_ns);
    }
  }
}

// docs/tracing-cost.md says how wrong the subtraction may be if a queue is busy.
TEST_CASE("a pipeline with bursts comes close to its times untraced") {
  constexpr double kError = 0.7;
  for (const std::size_t burst : {std::size_t{6}, std::size_t{20}})
    for (const std::uint64_t hit_ns : {500, 5000}) {
      CAPTURE(burst, hit_ns);
      constexpr std::uint64_t kIntervalNs = 40'000;
      const Times truth =
          times_of({.hit_ns = 0, .interval_ns = kIntervalNs, .burst = burst}, false);
      const Pipeline traced{.hit_ns = hit_ns, .interval_ns = kIntervalNs, .burst = burst};
      const Times measured = times_of(traced, false);
      const Times net = times_of(traced, true);
      const auto is_near = [&](std::uint64_t was, std::uint64_t is, std::uint64_t should_be) {
        return static_cast<double>(difference(is, should_be)) <=
               kError * static_cast<double>(was - is);
      };
      for (std::size_t row = 0; row < net.p50.size(); ++row) {
        CAPTURE(row, truth.p50[row], measured.p50[row], net.p50[row], truth.p99[row],
                measured.p99[row], net.p99[row]);
        CHECK(is_near(measured.p50[row], net.p50[row], truth.p50[row]));
        CHECK(is_near(measured.p99[row], net.p99[row], truth.p99[row]));
      }
      // Within a thread it is exact.
      for (const std::size_t row : {0, 2}) {
        CAPTURE(row);
        CHECK(net.p50[row] == truth.p50[row]);
        CHECK(net.p99[row] == truth.p99[row]);
      }
    }
}

TEST_CASE("in a long batch of a slow target no hit is forgotten before it was needed") {
  const Times net = times_of({.hit_ns = 500, .interval_ns = 1'000'000}, true);
  CHECK(net.p50[0] == Pipeline::kTakeNs);
}

}  // namespace
}  // namespace sojourn::report
