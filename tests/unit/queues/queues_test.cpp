// The output about queues, from samples and events that are made here.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "analysis/present/queues/queue_graph.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/queues/queue_survey.h"
#include "analysis/queues/sampled_queues.h"
#include "analysis/queues/verifier.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::queues {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint32_t kSampler = 0;
constexpr std::uint32_t kThread = 1;

// A trace of samples and of items' events, written in the order of the calls.
class Scene {
 public:
  Scene() {
    schema_.points = {model::queue_sample_point(),
                      *model::parse_point("I queue--enqueue", "depth:queue:item"),
                      *model::parse_point("I queue--dequeue", "depth:queue:item")};
  }

  void sample(std::uint64_t ts_ns, std::uint64_t in, std::uint64_t out, std::uint64_t same = 0,
              std::uint64_t queue = 7) {
    const auto values =
        model::QueueSample{.in = in, .out = out, .span_ns = 100, .same = same, .queue = queue}
            .values();
    samples_.append({.ts_ns = ts_ns,
                     .seq = samples_.size(),
                     .stream = kSampler,
                     .tid = 0,
                     .point = 0,
                     .values = values});
  }

  void put(std::uint64_t ts_ns, std::uint64_t queue = 7) { operation(ts_ns, 1, queue); }
  void take(std::uint64_t ts_ns) { operation(ts_ns, 2); }
  void lose_one() { ++next_seq_; }

  void tell(model::QueueChange change) { changes_.push_back(std::move(change)); }

  trace::Reader read() {
    const std::string path = directory_.path("run.sjt");
    auto writer = files::create_trace(path);
    REQUIRE(writer);
    REQUIRE(writer->write(schema_));
    REQUIRE(writer->write(changes_));
    REQUIRE(writer->write(samples_));
    REQUIRE(writer->write(operations_));
    REQUIRE(writer->finish());
    auto reader = files::open_trace(path);
    REQUIRE(reader);
    return std::move(*reader);
  }

 private:
  void operation(std::uint64_t ts_ns, model::PointId point, std::uint64_t queue = 7) {
    const std::vector<std::uint64_t> values = {0, queue, 1};
    operations_.append({.ts_ns = ts_ns,
                        .seq = next_seq_++,
                        .stream = kThread,
                        .tid = 1,
                        .point = point,
                        .values = values});
  }

  test::TemporaryDirectory directory_;
  model::Schema schema_;
  model::QueueChanges changes_;
  model::EventBatch samples_;
  model::EventBatch operations_;
  std::uint64_t next_seq_ = 0;
};

model::QueueInfo about(std::uint64_t id, const char* name, std::uint64_t capacity = 0,
                       model::QueueKind kind = model::QueueKind::kStage) {
  model::QueueInfo about;
  about.id = id;
  about.name = name;
  about.capacity = capacity;
  about.kind = kind;
  return about;
}

model::QueueChange found(model::QueueInfo about) {
  return {.event = model::QueueEvent::kFound, .ts_ns = 1, .after_ns = 0, .about = std::move(about)};
}

SampledQueues survey_of(trace::Reader& reader, ItemSelection selection = {}) {
  SampledQueues sampled_queues(reader, std::move(selection));
  REQUIRE(reader.merge([&](const model::EventBatch& events) {
    sampled_queues.consume(events);
    return true;
  }));
  sampled_queues.finish();
  return sampled_queues;
}

Verifier verify(trace::Reader& reader) {
  Verifier verifier(reader);
  REQUIRE(reader.merge([&](const model::EventBatch& events) {
    verifier.consume(events);
    return true;
  }));
  verifier.finish();
  return verifier;
}

TEST_CASE("a depth counts for as long as it lasted, not as often as it was seen") {
  Scene scene;
  scene.tell(found(about(7, "rlc.tx", 4)));
  scene.sample(0 * kMs, 10, 10);
  scene.sample(60 * kMs, 14, 10, 59);
  scene.sample(70 * kMs, 14, 12, 9);
  scene.sample(100 * kMs, 14, 14, 29);
  auto reader = scene.read();
  const SampledQueues sampled_queues = survey_of(reader);
  REQUIRE(sampled_queues.queues().size() == 1);
  const SampledQueue& stats = sampled_queues.queues().front();
  CHECK(stats.name() == "rlc.tx");
  CHECK(stats.gauge.samples() == 101);
  CHECK(stats.gauge.rows() == 4);
  CHECK(stats.gauge.levels().mean() == Catch::Approx((4 * 10 + 2 * 30) / 100.0));
  CHECK(stats.gauge.levels().quantile(0.5) == 0);
  CHECK(stats.gauge.levels().quantile(0.75) == 2);
  CHECK(stats.gauge.levels().quantile(0.99) == 4);
  CHECK(stats.gauge.max_depth() == 4);
  CHECK(stats.gauge.max_at_ns() == 60 * kMs);
  CHECK(stats.gauge.in() == 4);
  CHECK(stats.gauge.out() == 4);
  CHECK(stats.arrivals_per_s() == Catch::Approx(40));
  CHECK(stats.gauge.empty_stretches().count == 2);  // at the beginning, and at the very end
  CHECK(stats.gauge.empty_stretches().longest_ns == 60 * kMs);
  CHECK(stats.gauge.full_stretches().count == 1);
  CHECK(stats.gauge.full_stretches().total_ns == 10 * kMs);
}

TEST_CASE("each of several samples holds until the next, and nothing is known in between") {
  Scene scene;
  scene.tell(found(about(7, "rlc.tx", 4)));
  scene.tell(found(about(8, "never sampled then")));
  scene.sample(0 * kMs, 10, 10);
  scene.sample(10 * kMs, 14, 10);
  scene.sample(20 * kMs, 14, 12);
  scene.sample(30 * kMs, 24, 12);  // from here on they are not asked for
  scene.sample(90 * kMs, 24, 24, 0, 8);
  scene.sample(100 * kMs, 24, 23);
  scene.sample(110 * kMs, 24, 24);  // and from here on they are
  scene.sample(120 * kMs, 26, 24);
  auto reader = scene.read();
  const SampledQueues sampled_queues =
      survey_of(reader, {.wants = [](const model::EventView& event) {
                  return event.ts_ns < 30 * kMs || event.ts_ns >= 110 * kMs;
                }});
  REQUIRE(sampled_queues.queues().size() == 1);
  const Gauge& gauge = sampled_queues.queues().front().gauge;
  CHECK(gauge.levels().total_ns() == 40 * kMs);
  CHECK(gauge.levels().mean() == Catch::Approx((4 * 10 + 2 * 10) / 40.0));
  CHECK(gauge.max_depth() == 4);
  CHECK(gauge.in() == 4 + 2);
  CHECK(gauge.out() == 2);
  CHECK(gauge.empty_stretches().count == 2);
  CHECK(gauge.empty_stretches().total_ns == 20 * kMs);
  CHECK(gauge.full_stretches().total_ns == 10 * kMs);
  CHECK(sampled_queues.queues().front().arrivals_per_s() == Catch::Approx(6 / 40e-3));
}

TEST_CASE("each kind of queue is judged by its own meaning") {
  Scene scene;
  scene.tell(found(about(1, "stage", 10)));
  scene.tell(found(about(2, "pool", 10, model::QueueKind::kPool)));
  scene.tell(found(about(3, "both", 10, model::QueueKind::kBidirectional)));
  for (std::uint64_t queue = 1; queue <= 3; ++queue) {
    scene.sample(0, 8, 0, 0, queue);  // eight inside for a quarter of the time, then none
    scene.sample(250 * kMs, 8, 8, 0, queue);
    scene.sample(1000 * kMs, 8, 8, 0, queue);
  }
  auto reader = scene.read();
  const SampledQueues sampled_queues = survey_of(reader);
  REQUIRE(sampled_queues.queues().size() == 3);
  CHECK(sampled_queues.queues()[0].utilisation() == Catch::Approx(0.25));  // was not empty
  CHECK(sampled_queues.queues()[1].utilisation() == Catch::Approx(0.8));   // two of ten were free
  CHECK_FALSE(sampled_queues.queues()[2].utilisation());
  CHECK(sampled_queues.queues()[0].mean_wait_s() == Catch::Approx(2.0 / 8));  // Little
  CHECK(sampled_queues.queues()[1].mean_wait_s() == Catch::Approx(8.0 / 8));  // a buffer was taken
}

TEST_CASE("a queue's newest description counts, and its times are kept") {
  Scene scene;
  const model::QueueInfo blank = about(7, "late");
  model::QueueInfo whole = blank;
  whole.consumer = {"mac", 2, 0};
  scene.tell({model::QueueEvent::kAppeared, 20, 10, blank});
  scene.tell({model::QueueEvent::kDescribed, 40, 30, whole});
  scene.tell({model::QueueEvent::kEnded, 60, 50, whole});
  auto reader = scene.read();
  CHECK(reader.queue_changes().size() == 3);
  CHECK(reader.queue_changes()[1] ==
        model::QueueChange{model::QueueEvent::kDescribed, 40, 30, whole});
  const SampledQueues sampled_queues = survey_of(reader);
  const SampledQueue& stats = sampled_queues.queues().front();
  CHECK(stats.about == whole);
  CHECK(stats.appeared_ns == 20);
  CHECK(stats.ended_ns == 60);
  CHECK(stats.described == 1);
  CHECK(stats.gauge.empty());
  CHECK_FALSE(stats.utilisation());
}

TEST_CASE("a queue that only samples report has a name made of its id") {
  Scene scene;
  scene.sample(0, 1, 0);
  auto reader = scene.read();
  CHECK(survey_of(reader).queues().front().name() == "queue 0x7");
}

TEST_CASE("a name with quotes and backslashes does not get out of a graph's string") {
  Scene scene;
  model::QueueInfo hostile = about(7, "a\"];x\\");
  hostile.producer = {"p\"", 0, 0};
  scene.tell(found(hostile));
  auto reader = scene.read();
  const std::string dot = present::dot_text(present::sampled_graph(survey_of(reader).queues()));
  CHECK(dot.contains("label=\"a\\\"];x\\\\\""));
  CHECK(dot.contains("label=\"p\\\" 0\""));
}

TEST_CASE("an unnamed end of a queue is known from the operations' events") {
  Scene scene;
  model::QueueInfo half = about(7, "half");
  half.producer = {"rx", 0, 0};
  half.consumer = {};
  scene.tell(found(half));
  auto reader = scene.read();
  const auto sampled_queues = survey_of(reader);
  CHECK(present::dot_text(present::sampled_graph(sampled_queues.queues()))
            .contains("stage0 -> unknown0"));
  const std::string dot = present::dot_text(
      present::sampled_graph(sampled_queues.queues(), {{7, {"thread 1", "mac"}}}));
  CHECK(dot.contains("stage0 -> stage1"));
  CHECK(dot.contains("[shape=box, label=\"rx 0\"]"));
  CHECK(dot.contains("[shape=box, label=\"mac\"]"));
  CHECK_FALSE(dot.contains("thread 1"));
  CHECK(present::end_text(half.producer, "thread 1") == "rx 0");
  CHECK(present::end_text(half.consumer, "mac") == "mac");
  CHECK(present::end_text(half.consumer, "") == "?");
}

TEST_CASE("depths of any size take bounded memory and are right to a thousandth") {
  DepthHistogram levels;
  for (std::uint64_t depth = 1; depth != 0; depth = depth * 2) levels.add(depth + depth / 3, 1);
  levels.add(UINT64_MAX, 1);
  for (std::uint64_t depth = 1'000'000; depth < 2'000'000; depth += 7) levels.add(depth, 1);
  CHECK(levels.by_depth().size() < 2000);
  const auto median = static_cast<double>(levels.quantile(0.5));
  CHECK(median == Catch::Approx(1'500'000).epsilon(0.002));
}

TEST_CASE("samples that agree with the events are equal, and so are the totals") {
  Scene scene;
  scene.sample(0, 100, 100);  // counts from before the capture do not matter
  for (std::uint64_t item = 0; item < 10; ++item) {
    scene.put((1 + 10 * item) * kMs);
    scene.sample((3 + 10 * item) * kMs, 101 + item, 100 + item);
    scene.take((6 + 10 * item) * kMs);
    scene.sample((8 + 10 * item) * kMs, 101 + item, 101 + item);
  }
  auto reader = scene.read();
  const Verifier verifier = verify(reader);
  REQUIRE(verifier.comparisons().size() == 1);
  const CounterComparison& comparison = verifier.comparisons().front();
  CHECK(comparison.compared == 21);
  CHECK(comparison.equal == 21);
  CHECK(comparison.totals_agree());
  CHECK(comparison.in_by_events == 10);
  CHECK(verifier.discrepancies().empty());
}

TEST_CASE("a sample between an operation's count and its event is a race, not a difference") {
  Scene scene;
  scene.sample(0, 0, 0);
  scene.sample(1 * kMs, 1, 0);
  scene.put(1 * kMs + 300);  // counted just before the sample
  scene.sample(2 * kMs, 2, 0);
  scene.put(9 * kMs);  // the thread was preempted for milliseconds
  scene.sample(20 * kMs, 2, 0);
  auto reader = scene.read();
  const Verifier verifier = verify(reader);
  REQUIRE(verifier.comparisons().size() == 1);
  CHECK(verifier.comparisons().front().in_race == 2);
  CHECK(verifier.comparisons().front().different == 0);
  CHECK(verifier.discrepancies().empty());
}

TEST_CASE("a queue that makes no events is not compared, whatever it does") {
  Scene scene;
  for (std::uint64_t i = 0; i < 40; ++i) scene.sample(20 * i * kMs, 5 * i, 0, 0, 8);
  scene.put(10 * kMs);
  auto reader = scene.read();
  const Verifier verifier = verify(reader);
  CHECK(verifier.comparisons().empty());
  CHECK(verifier.discrepancies().empty());
}

TEST_CASE("a lost event is found as a difference and given as its cause") {
  const bool is_known = GENERATE(true, false);
  CAPTURE(is_known);
  Scene scene;
  for (std::uint64_t i = 0; i < 40; ++i) {
    if (i != 20)
      scene.put((1 + 10 * i) * kMs);
    else if (is_known)
      scene.lose_one();
    scene.sample((5 + 10 * i) * kMs, i + 1, 0);
  }
  auto reader = scene.read();
  const Verifier verifier = verify(reader);
  REQUIRE(verifier.discrepancies().size() == 1);
  const Discrepancy& one = verifier.discrepancies().front();
  CHECK(one.ts_ns == 205 * kMs);
  CHECK(one.since_ns == 195 * kMs);
  CHECK(one.sampled_depth == 21);
  CHECK(one.event_depth == 20);
  CHECK(one.events_lost == is_known);
  CHECK(verifier.comparisons().front().different == one.samples);
  CHECK_FALSE(verifier.comparisons().front().totals_agree());
  const journeys::Topology no_places;
  QueueSurvey survey(reader, no_places, {}, {}, true, {});
  REQUIRE(reader.merge([&](const model::EventBatch& events) {
    survey.consume(events);
    return true;
  }));
  survey.finish(0);
  const auto document = present::queues_json(
      {.reader = reader, .survey = survey, .pressure = {}, .has_depths = true});
  CHECK(document["verify"]["discrepancies"][0]["cause"] ==
        (is_known ? "lost events" : "none found"));
}

TEST_CASE("a lost event that a sample hid, with another under way, is the cause nevertheless") {
  Scene scene;
  scene.put(50 * kMs);
  scene.sample(60 * kMs, 1, 0);
  scene.lose_one();  // at 101 ms
  scene.put(103 * kMs, 8);
  scene.sample(105 * kMs, 2, 0);
  scene.put(105 * kMs + 20'000);
  for (std::uint64_t ms = 205; ms <= 505; ms += 50) scene.sample(ms * kMs, 3, 0);
  auto reader = scene.read();
  const Verifier verifier = verify(reader);
  REQUIRE(verifier.discrepancies().size() == 1);
  const Discrepancy& one = verifier.discrepancies().front();
  CHECK(one.ts_ns == 205 * kMs);
  CHECK(one.since_ns == 60 * kMs);
  CHECK(one.events_lost);
}

}  // namespace
}  // namespace sojourn::queues
