// The connections between a trace's queues.
#include "analysis/queues/pressure_net.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/queues/places.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::queues {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kItems = 20;

// Queues 1 and 2; the later queue 1 grows while queue 2 is deep.
class Scene {
 public:
  Scene(const std::string& handing_on, model::QueueKind kind) {
    model::QueueChanges changes(2);
    changes[0].about = {.id = 1,
                        .name = "first",
                        .kind = kind,
                        .producer = {.stage = "rx"},
                        .consumer = {.stage = handing_on}};
    changes[1].about = {.id = 2,
                        .name = "second",
                        .producer = {.stage = handing_on},
                        .consumer = {.stage = handing_on.empty() ? "" : "tx"}};
    auto writer = files::create_trace(directory_.path("run.sjt"));
    REQUIRE(writer);
    REQUIRE(writer->write(schema_));
    REQUIRE(writer->write(changes));
    REQUIRE(writer->finish());
    auto reader = files::open_trace(directory_.path("run.sjt"));
    REQUIRE(reader);
    reader_.emplace(std::move(*reader));
    survey_.emplace(*reader_);
    operations_.emplace(schema_, changes, 1);
  }

  void sample() {
    for (std::uint64_t queue = 1; queue <= 2; ++queue) {
      put(0, {0, 0, 0, 0, 0, 0, queue}, 0, 0);
      put((31 - queue * 10) * kMs, {kItems, 0, 0, 0, 0, 0, queue}, 0, 0);
      put(60 * kMs, {kItems, kItems, 0, 0, 0, 0, queue}, 0, 0);
    }
    survey_->consume(batch_);
    survey_->finish();
    batch_ = {};
  }

  // Thread 11 feeds the first, 12 hands on, 13 drains the second.
  void operate() {
    for (std::uint64_t queue = 2; queue >= 1; --queue)
      for (std::uint64_t item = 1; item <= kItems; ++item)
        put((31 - queue * 10) * kMs + item, {item, queue, item}, 1,
            static_cast<std::uint32_t>(10 + queue));
    for (std::uint64_t queue = 2; queue >= 1; --queue)
      for (std::uint64_t item = 1; item <= kItems; ++item)
        put(60 * kMs + item, {kItems - item, queue, item}, 2,
            static_cast<std::uint32_t>(11 + queue));
    operations_->consume(batch_);
    operations_->finish(70 * kMs);
    batch_ = {};
  }

  // Items whose dequeue events are lost; their numbers are used again.
  void lose() {
    for (const std::uint64_t at : {kMs, 50 * kMs})
      for (std::uint64_t item = 1; item <= kItems; ++item) put(at + item, {item, 1, item}, 1, 11);
    for (std::uint64_t item = 1; item <= kItems; ++item)
      put(51 * kMs + item, {kItems - item, 1, item}, 2, 12);
    operations_->consume(batch_);
    operations_->finish(70 * kMs);
    batch_ = {};
  }

  // "tx <- second <- first", one after the other.
  std::vector<std::string> found(bool with_samples) const {
    const std::map<std::uint32_t, std::string> threads = {{12, "mid"}, {13, "out"}};
    PressureNet net(threads);
    if (with_samples) net.add(*survey_);
    net.add(*operations_);
    std::vector<std::string> lines;
    for (const Chain& chain : net.chains(10)) {
      std::string& line = lines.emplace_back(net.names()[chain.front().node].stage);
      for (const Episode& episode : chain) line += " <- " + net.names()[episode.node].queue;
    }
    return lines;
  }

 private:
  void put(std::uint64_t ts_ns, const std::vector<std::uint64_t>& values, model::PointId point,
           std::uint32_t tid) {
    batch_.append({.ts_ns = 1 + ts_ns, .tid = tid, .point = point, .values = values});
  }

  test::TemporaryDirectory directory_;
  model::Schema schema_ = {{model::queue_sample_point(),
                            *model::parse_point("I queue--enqueue", "depth:queue:item"),
                            *model::parse_point("I queue--dequeue", "depth:queue:item")}};
  std::optional<trace::Reader> reader_;
  std::optional<SampledQueues> survey_;
  std::optional<Operations> operations_;
  model::EventBatch batch_;
};

using Lines = std::vector<std::string>;

TEST_CASE("sampled queues hang together by the stage between them") {
  Scene scene("mac", model::QueueKind::kStage);
  scene.sample();
  CHECK(scene.found(true) == Lines{"tx <- second <- first"});
}

TEST_CASE("unnamed stages are not the same stage, and a pool is at rest when it is full") {
  Scene untold("", model::QueueKind::kStage);
  untold.sample();
  CHECK(untold.found(true) == Lines{" <- second", " <- first"});
  Scene pool("mac", model::QueueKind::kPool);
  pool.sample();
  CHECK(pool.found(true) == Lines{"tx <- second"});
}

TEST_CASE("queues with events of their operations hang together by threads, sampled or not") {
  Scene scene("", model::QueueKind::kStage);
  scene.operate();
  CHECK(scene.found(false) == Lines{"out <- second <- first"});
  scene.sample();
  CHECK(scene.found(true) == Lines{"out <- second <- first"});
}

TEST_CASE("a unit that was never seen to leave is no pressure") {
  Scene scene("", model::QueueKind::kStage);
  scene.lose();
  CHECK(scene.found(false).empty());
}

TEST_CASE("pieces that wait for others of their packet are no pressure") {
  // By whether the second event has the numbers of pieces.
  const auto chains = [](const char* fields) {
    const model::Schema schema = {{*model::parse_point("U mac.rx--rlc.rx", "len:rnti:rsn.so"),
                                   *model::parse_point("U rlc.rx--ip.out", fields)}};
    auto topology = journeys::Topology::derive(schema, {});
    REQUIRE(topology);
    Places places(*topology, 1, {});
    const std::uint16_t place = topology->pairs.front().place;
    CHECK(topology->places[place].name == "rlc.rx");
    for (std::uint64_t item = 1; item <= kItems; ++item) places.on_enter(place, 20 * kMs + item);
    for (std::uint64_t item = 1; item <= kItems; ++item)
      places.on_leave(place, 20 * kMs + item, 60 * kMs + item, true);
    places.finish(70 * kMs);
    PressureNet net({});
    net.add(places, *topology);
    return net.chains(10).size();
  };
  CHECK(chains("len:rnti:rsn.so") == 1);
  CHECK(chains("len:rnti:rsn") == 0);
}

}  // namespace
}  // namespace sojourn::queues
