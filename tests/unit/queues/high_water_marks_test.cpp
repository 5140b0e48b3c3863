// The journeys that were inside of sampled queues when these were deepest.
#include "analysis/queues/high_water_marks.h"

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::queues {
namespace {

// Packets go in--wait, wait--out; `samples` are of the queue's depth.
class Scene {
 public:
  explicit Scene(const model::QueueInfo& about) : topology_(derive()), marks_(made(about)) {}

  void sample(std::uint64_t ts_ns, std::uint64_t depth) {
    const auto values = model::QueueSample{.in = depth, .queue = 7}.values();
    model::EventBatch batch;
    batch.append({.ts_ns = ts_ns, .point = 2, .values = values});
    survey_->consume(batch);
  }

  void packet(std::uint64_t id, std::uint64_t in_ns, std::uint64_t out_ns,
              std::uint64_t rnti = 0x46) {
    const std::vector<std::uint64_t> values = {rnti, id};
    const std::vector<std::uint32_t> parents = {0};
    const std::vector<journeys::Step> steps = {{.ts_ns = in_ns,
                                                .entered_ns = in_ns,
                                                .tid = 1,
                                                .point = 0,
                                                .values = values,
                                                .parents = {}},
                                               {.ts_ns = out_ns,
                                                .entered_ns = out_ns,
                                                .tid = 2,
                                                .point = 1,
                                                .values = values,
                                                .parents = parents}};
    marks_.on_journey({.id = id, .steps = steps});
  }

  void settle() { marks_.settle(*survey_); }
  void finish() { marks_.finish(*survey_); }
  const HighWaterMark* mark() const { return marks_.find(7); }

 private:
  journeys::Topology derive() {
    schema_.points = {*model::parse_point("D in--wait", "::rnti.sn"),
                      *model::parse_point("D wait--out", "::rnti.sn"), model::queue_sample_point()};
    auto made = journeys::Topology::derive(schema_, {});
    REQUIRE(made);
    return std::move(*made);
  }

  HighWaterMarks made(const model::QueueInfo& about) {
    auto writer = files::create_trace(directory_.path("run.sjt"));
    REQUIRE(writer);
    REQUIRE(writer->write(schema_));
    REQUIRE(writer->write(model::QueueChanges{
        {.event = model::QueueEvent::kFound, .ts_ns = 1, .after_ns = 0, .about = about}}));
    REQUIRE(writer->finish());
    auto reader = files::open_trace(directory_.path("run.sjt"));
    REQUIRE(reader);
    reader_.emplace(std::move(*reader));
    survey_.emplace(*reader_);
    return {topology_, *survey_, {{1, "rx"}, {2, "tx"}}};
  }

  test::TemporaryDirectory directory_;
  model::Schema schema_;
  journeys::Topology topology_;
  std::optional<trace::Reader> reader_;
  std::optional<SampledQueues> survey_;
  HighWaterMarks marks_;
};

model::QueueInfo about(std::string name, std::uint32_t group = 0, std::string from = {},
                       std::string to = {}) {
  model::QueueInfo about;
  about.id = 7;
  about.name = std::move(name);
  about.group = group;
  about.producer.stage = std::move(from);
  about.consumer.stage = std::move(to);
  return about;
}

using Ids = std::vector<std::uint64_t>;

TEST_CASE("journeys inside a queue when it was deepest are reported, whatever came before") {
  Scene scene(about("wait"));
  scene.packet(1, 100, 200);
  scene.packet(2, 110, 120);
  scene.sample(150, 1);
  scene.settle();
  REQUIRE(scene.mark() != nullptr);
  CHECK(scene.mark()->journeys == Ids{1});
  // Packets that are reported before the sample at which they were inside, in one batch.
  scene.packet(3, 300, 420);
  scene.packet(4, 310, 390);
  scene.packet(5, 380, 500);
  scene.sample(400, 2);
  scene.sample(450, 1);
  scene.settle();
  CHECK(scene.mark()->ts_ns == 400);
  CHECK(scene.mark()->inside == 2);
  CHECK(scene.mark()->journeys == Ids{3, 5});
}

TEST_CASE("a mark after which no packet was reported has no known packets inside") {
  Scene scene(about("wait"));
  scene.packet(1, 100, 200);
  scene.sample(150, 1);
  scene.settle();
  scene.sample(300, 5);
  scene.finish();
  REQUIRE(scene.mark() != nullptr);
  CHECK(scene.mark()->ts_ns == 300);
  CHECK(scene.mark()->journeys.empty());
}

TEST_CASE("a queue is a place by its name, by its group, or by the threads at its ends") {
  const auto is_placed = [](const model::QueueInfo& queue) {
    Scene scene(queue);
    scene.packet(1, 100, 200);
    scene.sample(150, 1);
    scene.settle();
    return scene.mark() != nullptr && scene.mark()->journeys == Ids{1};
  };
  CHECK(is_placed(about("wait")));
  CHECK(is_placed(about("wait rnti 0x46", 0x46)));
  CHECK_FALSE(is_placed(about("wait rnti 0x47", 0x47)));
  CHECK_FALSE(is_placed(about("waiting", 0x46)));
  CHECK(is_placed(about("fifo", 0, "rx", "tx")));
  CHECK_FALSE(is_placed(about("fifo", 0, "tx", "rx")));
  CHECK_FALSE(is_placed(about("fifo")));
}

TEST_CASE("items of a pool belong to no packet") {
  model::QueueInfo pool = about("wait");
  pool.kind = model::QueueKind::kPool;
  Scene scene(pool);
  scene.packet(1, 100, 200);
  scene.sample(150, 1);
  scene.settle();
  CHECK(scene.mark() == nullptr);
}

}  // namespace
}  // namespace sojourn::queues
