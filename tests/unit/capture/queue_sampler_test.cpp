// The sampler on this process's own queues, from registering to the file's contents.
#include "userspace/capture/queues/queue_sampler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sojourn/queue.h>
#include <unistd.h>

#include "analysis/trace/reader.h"
#include "tests/support/arena_view.h"
#include "tests/support/child.h"
#include "userspace/base/clock.h"
#include "userspace/capture/queues/queue_watch.h"
#include "userspace/files/trace_file.h"

namespace sojourn::capture {
namespace {

using model::QueueEvent;
using std::chrono::milliseconds;

struct Change {
  QueueEvent event;
  std::string name;
  bool operator==(const Change&) const = default;
};

std::vector<Change> changes_of(const model::QueueChanges& all) {
  std::vector<Change> changes;
  for (const model::QueueChange& change : all) changes.push_back({change.event, change.about.name});
  return changes;
}

TEST_CASE("queues that appear, are described and end are reported once each, with their times") {
  const test::ArenaView view(getpid());
  sj_queue* const first = SJ_QUEUE("watch.first", .kind = SJ_QUEUE_POOL, .capacity = 5);
  const std::atomic<std::uint64_t> never = UINT64_MAX;
  QueuePass pass(false, never);
  QueueWatch watch(getpid(), 0, pass);
  watch.add_arena(view.bytes(), true);
  auto changes = watch.scan(100);
  REQUIRE(changes_of(changes) == std::vector<Change>{{QueueEvent::kFound, "watch.first"}});
  CHECK(changes[0].about.kind == model::QueueKind::kPool);
  CHECK(changes[0].about.capacity == 5);
  CHECK(changes[0].about.id == sj_queue_id(first));
  CHECK(watch.scan(200).empty());

  sj_queue* const second = SJ_QUEUE("watch.second");
  CHECK(SJ_QUEUE_DESCRIBE(first, .consumer = {"mac", 2}));
  changes = watch.scan(300);
  REQUIRE(changes_of(changes) == std::vector<Change>{{QueueEvent::kDescribed, "watch.first"},
                                                     {QueueEvent::kAppeared, "watch.second"}});
  CHECK(changes[0].about.consumer == model::QueueSide{"mac", 2, 0});
  CHECK(changes[1].after_ns == 200);
  CHECK(changes[1].ts_ns == 300);
  CHECK(pass.queues() == 2);

  // A place that is another queue's by the next scan.
  SJ_QUEUE_END(second);
  sj_queue* const third = SJ_QUEUE("watch.third");
  REQUIRE(third == second);
  CHECK(changes_of(watch.scan(400)) == std::vector<Change>{{QueueEvent::kEnded, "watch.second"},
                                                           {QueueEvent::kAppeared, "watch.third"}});
  SJ_QUEUE_END(first);
  SJ_QUEUE_END(third);
  CHECK(changes_of(watch.scan(500)).size() == 2);
  CHECK(pass.queues() == 0);
}

// A trace of this process's queues.
class OwnCapture {
 public:
  explicit OwnCapture(const QueueSamplerOptions& options)
      : process_(*tracee::Process::open(getpid())) {
    auto writer = files::create_trace(directory_.path("run.sjt"));
    REQUIRE(writer);
    sink_.emplace(std::make_unique<FileStore>(std::move(*writer)));
    output_.emplace(*sink_, model::Schema{});
    auto made = QueueSampler::create(process_, options);
    if (!made) FAIL(made.error().text());
    sampler_ = std::move(*made);
    REQUIRE(sampler_->connect(*output_));
    REQUIRE(sampler_->arm());
    open_ns_ = base::monotonic_ns() + 1'000'000;
    sampler_->open_at(open_ns_);
    std::this_thread::sleep_for(milliseconds(10));
  }

  trace::Reader finish() {
    // Long enough for a starved sampler to look once more.
    close_ns_ = base::monotonic_ns() + 500'000'000;
    sampler_->close_at(close_ns_);
    REQUIRE(sampler_->settle());
    REQUIRE(sink_->finish());
    auto reader = files::open_trace(directory_.path("run.sjt"));
    REQUIRE(reader);
    REQUIRE(reader->events() == sampler_->events());
    return std::move(*reader);
  }

  std::uint64_t open_ns() const { return open_ns_; }
  std::uint64_t close_ns() const { return close_ns_; }
  QueueSampler& sampler() { return *sampler_; }

 private:
  test::TemporaryDirectory directory_;
  tracee::Process process_;
  std::optional<Sink> sink_;
  std::optional<CaptureOutput> output_;
  std::unique_ptr<QueueSampler> sampler_;
  std::uint64_t open_ns_ = 0;
  std::uint64_t close_ns_ = 0;
};

struct Rows {
  std::vector<std::uint64_t> ts_ns;
  std::vector<model::QueueSample> samples;
};

std::map<std::uint64_t, Rows> rows_by_queue(trace::Reader& reader) {
  std::map<std::uint64_t, Rows> rows;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const auto sample = model::queue_sample(reader.schema(), batch[row]);
      REQUIRE(sample);
      rows[sample->queue].ts_ns.push_back(batch.ts_ns()[row]);
      rows[sample->queue].samples.push_back(*sample);
    }
    return true;
  }));
  CHECK(reader.gaps().empty());
  return rows;
}

void require_whole(const Rows& rows, const OwnCapture& capture, std::uint64_t items) {
  REQUIRE(!rows.samples.empty());
  CHECK(rows.samples.back().in == items);
  CHECK(rows.samples.back().out == items);
  for (const std::uint64_t ts_ns : rows.ts_ns) {
    REQUIRE(ts_ns >= capture.open_ns());
    REQUIRE(ts_ns < capture.close_ns());
  }
  CHECK(std::ranges::is_sorted(rows.ts_ns));
}

TEST_CASE("every item of a queue is in the trace, in any sampling mode") {
  for (const auto mode :
       {model::SamplingMode::kFixed, model::SamplingMode::kAdaptive, model::SamplingMode::kBusy}) {
    CAPTURE(model::name(mode));
    sj_queue* const queue = SJ_QUEUE("sampler.moves");
    sj_queue* const idle = SJ_QUEUE("sampler.rests");
    const std::uint64_t id = sj_queue_id(queue);
    OwnCapture capture({.mode = mode, .period = milliseconds(1), .cpu = -1});
    constexpr std::uint64_t kItems = 30;
    for (std::uint64_t item = 0; item < kItems; ++item) {
      SJ_ENQUEUE(queue);
      std::this_thread::sleep_for(milliseconds(2));
      SJ_DEQUEUE(queue);
    }
    auto reader = capture.finish();
    const auto rows = rows_by_queue(reader);
    require_whole(rows.at(id), capture, kItems);
    require_whole(rows.at(sj_queue_id(idle)), capture, 0);
    CHECK(rows.at(sj_queue_id(idle)).samples.size() <= 3);  // the first, the last, one a second
    CHECK(reader.sampling().mode == mode);
    CHECK(reader.sampling().looks >= reader.events());
    CHECK(reader.sampling().queues.size() == 2);
    SJ_QUEUE_END(queue);
    SJ_QUEUE_END(idle);
  }
}

TEST_CASE("a queue that comes and goes during the capture is in the trace with its last counts") {
  OwnCapture capture({.mode = model::SamplingMode::kFixed, .period = milliseconds(1), .cpu = -1});
  sj_queue* const queue = SJ_QUEUE("sampler.short");
  const std::uint64_t id = sj_queue_id(queue);
  std::this_thread::sleep_for(milliseconds(30));
  SJ_ENQUEUE_N(queue, 5);
  SJ_DEQUEUE_N(queue, 2);
  SJ_QUEUE_END(queue);
  std::this_thread::sleep_for(milliseconds(30));
  auto reader = capture.finish();
  const auto rows = rows_by_queue(reader);
  REQUIRE(rows.contains(id));
  CHECK(rows.at(id).samples.back().in == 5);
  CHECK(rows.at(id).samples.back().out == 2);
  CHECK(changes_of(reader.queue_changes()) ==
        std::vector<Change>{{QueueEvent::kAppeared, "sampler.short"},
                            {QueueEvent::kEnded, "sampler.short"}});
}

TEST_CASE("a sampler that is given up before its close ends at once") {
  OwnCapture capture(
      {.mode = model::SamplingMode::kFixed, .period = std::chrono::seconds(10), .cpu = -1});
  capture.sampler().disarm();
  CHECK_FALSE(capture.sampler().is_armed());
}

TEST_CASE("a CPU that is not there is refused by its number") {
  const auto process = tracee::Process::open(getpid());
  REQUIRE(process);
  const auto made = QueueSampler::create(*process, {.cpu = 4000});
  REQUIRE_FALSE(made);
  CHECK(made.error().text().contains("CPU 4000"));
}

}  // namespace
}  // namespace sojourn::capture
