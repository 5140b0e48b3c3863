// A trace that grows block by block: what its figures have, and when.
#include "analysis/live/growing_trace.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/writer.h"

namespace sojourn::live {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kOpen = 5 * kSecond;

using Bytes = std::vector<std::uint8_t>;

// A sink whose bytes are readable at once.
class BytesSink : public trace::ByteSink {
 public:
  explicit BytesSink(Bytes& bytes) : bytes_(bytes) {}
  Result<void> append(std::span<const std::uint8_t> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> finish() override { return {}; }
  void abandon() override {}
  const std::string& put_aside() const override { return none_; }

 private:
  Bytes& bytes_;
  std::string none_;
};

class BytesSource : public trace::ByteSource {
 public:
  explicit BytesSource(const Bytes& bytes) : bytes_(bytes) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    if (offset > bytes_.size() || into.size() > bytes_.size() - offset) return false;
    std::ranges::copy(std::span(bytes_).subspan(offset, into.size()), into.data());
    return true;
  }

 private:
  const Bytes& bytes_;
  std::string name_ = "growing";
};

struct Growing {
  explicit Growing(LiveOptions options = {})
      : live(std::make_unique<BytesSource>(bytes), std::move(options)) {
    for (const auto* where : {"D in--a", "D a--out"})
      schema.points.push_back(*model::parse_point(where, "len:rnti:sn"));
    writer.emplace(*trace::Writer::create(std::make_unique<BytesSink>(bytes)));
    REQUIRE(writer->write(schema));
    clock(kOpen - 1);
    model::Capture about;
    about.open_ns = kOpen;
    REQUIRE(writer->write(about));
  }

  void clock(std::uint64_t ns) { REQUIRE(writer->write(model::ClockPair{.monotonic_ns = ns})); }
  // The way of a packet, on two streams: each hit is a block.
  void packet(std::uint64_t at_ns, std::uint64_t took_ns) {
    hit(at_ns, 0);
    hit(at_ns + took_ns, 1);
    ++number;
  }
  // A packet is reported once events of a while later have come: those of these packets, which stay
  // inside.
  void settle(std::uint64_t ts_ns) {
    for (std::uint64_t other = 0; other < 10; ++other) {
      hit(ts_ns + other, 0);
      ++number;
    }
  }
  void hit(std::uint64_t ts_ns, model::PointId point) {
    model::EventBatch batch;
    const std::uint64_t values[] = {100, rnti, number};
    batch.append({ts_ns, seq[point]++, point, 1, point, values});
    REQUIRE(writer->write(batch));
  }
  std::uint64_t complete() const {
    const Snapshot now = live.snapshot();
    return now.directions.empty() ? 0 : now.directions.front().complete;
  }
  void poll() {
    bool more = true;
    while (more) {
      const auto came = live.poll([this] {
        ticks.push_back(live.snapshot().now_ns);
        return true;
      });
      REQUIRE(came);
      more = *came;
    }
  }

  model::Schema schema;
  Bytes bytes;
  std::optional<trace::Writer> writer;
  GrowingTrace live;
  std::vector<std::uint64_t> ticks;
  std::uint64_t rnti = 1;
  std::uint64_t number = 0;
  std::uint64_t seq[2] = {};
};

TEST_CASE("events count once a later pair of clocks says that all before it were delivered") {
  Growing growing;
  growing.poll();
  CHECK(growing.live.has_begun());
  growing.packet(kOpen + 10, 100);
  growing.poll();
  CHECK(growing.complete() == 0);
  growing.settle(kOpen + kSecond / 2);
  growing.clock(kOpen + 2 * kSecond);
  growing.packet(kOpen + 3 * kSecond, 100);  // of the next interval
  growing.settle(kOpen + 4 * kSecond);
  growing.poll();
  CHECK(growing.complete() == 1);
  CHECK(growing.ticks == std::vector<std::uint64_t>{kOpen + kSecond});
  growing.clock(kOpen + 5 * kSecond);
  growing.poll();
  CHECK(growing.complete() == 2);
  CHECK(growing.ticks.size() == 4);
  CHECK_FALSE(growing.live.has_ended());
}

// `processor_ns`: the processor time of the view.
LiveOptions with_budget(const std::uint64_t& processor_ns) {
  LiveOptions options;
  options.processor_ns = [&processor_ns] { return processor_ns; };
  options.budget = 0.03;
  return options;
}

// Some packets of each of eight UEs in each second.
void busy_second(Growing& growing, std::uint64_t second) {
  for (std::uint64_t at = 0; at < 40; ++at) {
    growing.rnti = 1 + at % 8;
    growing.packet(kOpen + second * kSecond + at * 10'000'000, 500'000);
  }
  growing.clock(kOpen + (second + 1) * kSecond + 100'000'000);
}

TEST_CASE("a view that takes too much of a core rebuilds some UEs, and says how many") {
  std::uint64_t processor_ns = 1;
  Growing growing(with_budget(processor_ns));
  for (std::uint64_t second = 0; second < 8; ++second) {
    busy_second(growing, second);
    processor_ns += kSecond / 2;
    growing.poll();
    CHECK(growing.live.snapshot().sample.has_value() == (second >= 2));
  }
  const Snapshot now = growing.live.snapshot();
  REQUIRE(now.sample);
  CHECK(now.sample->owners == 1);
  CHECK(now.sample->of == 8);
  CHECK(now.sample->events_share == 0.125);
  // All events are counted. Packets are complete for the five seconds since the choice, five in
  // each; those of the last 100 ms wait for packets behind them.
  CHECK(now.events + 1 >= 8 * 40 * 2);  // the newest one may be held back
  CHECK(now.events <= 8 * 40 * 2);
  CHECK(now.events_per_s == 80);
  REQUIRE(now.directions.size() == 1);
  CHECK(now.directions[0].complete >= 23);
  CHECK(now.directions[0].complete <= 25);
  CHECK(now.directions[0].censored == 0);
  CHECK(now.directions[0].incomplete == 0);
  CHECK(now.lost == 0);
  CHECK(now.left_out == 0);
  CHECK(now.restarts == 0);

  // With a filter all packets are rebuilt, because it may select any of them.
  REQUIRE(growing.live.choose({filter::parse("rnti >= 1").value(), "rnti >= 1"}));
  busy_second(growing, 8);
  busy_second(growing, 9);
  processor_ns += kSecond;
  growing.poll();
  const Snapshot chosen = growing.live.snapshot();
  CHECK_FALSE(chosen.sample);
  CHECK(chosen.directions[0].complete >= 69);
  CHECK(chosen.events + 1 >= 10 * 40 * 2);
  CHECK(chosen.events <= 10 * 40 * 2);
}

TEST_CASE("events of UEs that are left out count when their time has come") {
  std::uint64_t processor_ns = 1;
  Growing growing(with_budget(processor_ns));
  for (std::uint64_t second = 0; second < 4; ++second) {
    busy_second(growing, second);
    processor_ns += kSecond / 2;
    growing.poll();
  }
  REQUIRE(growing.live.snapshot().sample);
  const std::uint64_t before = growing.live.snapshot().events;
  // A block of two seconds, of which the clock says that the first tenth is over.
  model::EventBatch batch;
  for (std::uint64_t at = 0; at < 80; ++at) {
    const std::uint64_t values[] = {100, 1 + at % 8, growing.number++};
    batch.append({kOpen + 4 * kSecond + at * 25'000'000, growing.seq[0]++, 0, 1, 0, values});
  }
  REQUIRE(growing.writer->write(batch));
  growing.clock(kOpen + 4 * kSecond + 200'000'000);
  growing.poll();
  CHECK(growing.live.snapshot().events <= before + 8 + 1);  // one may have been held back before
  growing.clock(kOpen + 7 * kSecond);
  growing.poll();
  CHECK(growing.live.snapshot().events + 1 >= before + 80);
  CHECK(growing.live.snapshot().events <= before + 80 + 1);
}

TEST_CASE("a view within its budget rebuilds all packets, and so does one without") {
  std::uint64_t processor_ns = 1;
  Growing growing(with_budget(processor_ns));
  Growing unlimited;
  for (std::uint64_t second = 0; second < 8; ++second) {
    busy_second(growing, second);
    busy_second(unlimited, second);
    processor_ns += kSecond / 50;
    growing.poll();
    unlimited.poll();
  }
  CHECK_FALSE(growing.live.snapshot().sample);
  CHECK_FALSE(unlimited.live.snapshot().sample);
  CHECK(growing.complete() >= 309);  // those of the last 100 ms wait
  CHECK(growing.complete() == unlimited.complete());
}

TEST_CASE("streams that are written one after the other are put into the order of time") {
  Growing growing;
  // All events of the second stream, and then all of the first.
  for (growing.number = 0; growing.number < 50; ++growing.number)
    growing.hit(kOpen + growing.number * 1'000'000 + 500, 1);
  for (growing.number = 0; growing.number < 50; ++growing.number)
    growing.hit(kOpen + growing.number * 1'000'000, 0);
  growing.settle(kOpen + kSecond);
  growing.clock(kOpen + 2 * kSecond);
  growing.poll();
  CHECK(growing.complete() == 50);
  CHECK(growing.live.snapshot().directions.front().times.all.max_ns == 500);
}

TEST_CASE("an event that comes behind its time is counted and left out") {
  Growing growing;
  growing.packet(kOpen + 10, 100);
  growing.settle(kOpen + kSecond);
  growing.clock(kOpen + 2 * kSecond);
  growing.poll();
  growing.packet(kOpen + 20, 100);
  growing.clock(kOpen + 4 * kSecond);
  growing.poll();
  CHECK(growing.complete() == 1);
  CHECK(growing.live.snapshot().left_out == 2);
}

TEST_CASE("events that an interval still lacks are waited for, and are not late") {
  Growing growing;
  // In the same block as what counts already.
  model::EventBatch batch;
  const std::uint64_t first[] = {100, 1, 1};
  const std::uint64_t second[] = {100, 1, 2};
  const std::uint64_t at_ns = kOpen + 3 * kSecond;
  batch.append({kOpen + 10, 0, 0, 1, 0, first});
  batch.append({at_ns, 1, 0, 1, 0, second});
  REQUIRE(growing.writer->write(batch));
  growing.clock(kOpen + 2 * kSecond);
  growing.poll();
  growing.number = 2;
  growing.hit(at_ns + 700, 1);
  growing.settle(at_ns + kSecond);
  growing.clock(kOpen + 5 * kSecond);
  growing.poll();
  CHECK(growing.complete() == 1);
  CHECK(growing.live.snapshot().left_out == 0);
}

TEST_CASE("the end of the trace brings everything, and the rest is closed") {
  Growing growing;
  growing.packet(kOpen + 10, 100);
  growing.hit(kOpen + 400, 0);  // and stays
  REQUIRE(growing.writer->finish());
  growing.poll();
  CHECK(growing.live.has_ended());
  CHECK(growing.complete() == 1);
  const Snapshot end = growing.live.snapshot();
  CHECK(end.has_ended);
  CHECK(end.directions.front().censored + end.directions.front().incomplete == 1);
}

TEST_CASE("if nothing more comes, the waiting events count") {
  Growing growing;
  growing.packet(kOpen + 10, 100);
  growing.settle(kOpen + kSecond);
  growing.poll();
  CHECK(growing.complete() == 0);
  REQUIRE(growing.live.settle([] { return true; }));
  CHECK(growing.complete() == 1);
}

TEST_CASE("without clock pairs the waiting events are bounded, and older ones count") {
  LiveOptions options;
  options.max_waiting_bytes = 1000;
  Growing growing(options);
  for (std::uint64_t second = 0; second < 20; ++second) {
    for (std::uint64_t packet = 0; packet < 10; ++packet)
      growing.packet(kOpen + second * kSecond + packet * 1'000'000, 100);
    growing.poll();
  }
  CHECK(growing.complete() > 150);
  CHECK(growing.complete() <= 190);
  CHECK(growing.live.snapshot().left_out == 0);
}

TEST_CASE("points that come later begin the figures anew, and are counted") {
  Growing growing;
  growing.packet(kOpen + 10, 100);
  growing.settle(kOpen + kSecond);
  growing.clock(kOpen + 2 * kSecond);
  growing.poll();
  CHECK(growing.complete() == 1);
  model::Schema more = growing.schema;
  more.points.push_back(*model::parse_point("U y--z", "len:rnti:sn"));
  REQUIRE(growing.writer->write(more));
  growing.packet(kOpen + 3 * kSecond, 100);
  growing.settle(kOpen + 3 * kSecond + kSecond / 2);
  growing.clock(kOpen + 4 * kSecond);
  growing.poll();
  CHECK(growing.live.snapshot().restarts == 1);
  CHECK(growing.complete() == 1);
}

// A stage like a script: it adds an activity of 7 ns behind each event of the second point.
class MakingStage : public trace::EventStage {
 public:
  MakingStage(model::Schema schema, const bool& fails) : schema_(std::move(schema)), fails_(fails) {
    schema_.points.push_back({.direction = model::Direction::kScript,
                              .src = "made",
                              .dest = {},
                              .fields = {{.name = std::string(model::kDurationField)}},
                              .file = {}});
  }
  const model::Schema& schema() const override { return schema_; }
  Result<void> begin(std::span<const model::Stream>) override { return {}; }
  void know_streams(std::span<const model::Stream>) override {}
  Result<void> pass(model::EventBatch& events) override {
    if (fails_) return fail("test.lua:3: broken");
    model::EventBatch behind;
    for (std::size_t row = 0; row < events.size(); ++row) {
      behind.append(events[row]);
      if (events.point()[row] != 1) continue;
      const std::uint64_t took[] = {7};
      model::EventView made = events[row];
      made.point = 2;
      made.values = took;
      behind.append(made);
    }
    events = std::move(behind);
    return {};
  }

 private:
  model::Schema schema_;
  const bool& fails_;
};

TEST_CASE("a script stands in front of the figures, and they go on without it when it fails") {
  bool fails = false;
  LiveOptions options;
  options.script = [&fails](const model::Schema& schema, std::uint64_t) -> Result<LiveScript> {
    return LiveScript{.events = std::make_shared<MakingStage>(schema, fails),
                      .keeps = [](const journeys::Journey& journey) { return journey.id != 1; },
                      .notice = {},
                      .failure = {}};
  };
  Growing growing(std::move(options));
  for (std::uint64_t at = 1; at <= 3; ++at) growing.packet(kOpen + at * 1000, 100);
  growing.settle(kOpen + kSecond / 2);
  growing.clock(kOpen + kSecond);
  growing.poll();
  Snapshot now = growing.live.snapshot();
  REQUIRE(now.activities.size() == 1);
  CHECK(now.activities.front().name == "made");
  CHECK(now.activities.front().all.count == 3);
  CHECK(now.activities.front().all.max_ns == 7);
  CHECK(growing.complete() == 2);  // the first one is not kept
  CHECK(now.script_error.empty());

  fails = true;
  growing.packet(kOpen + kSecond + 1000, 100);
  growing.clock(kOpen + 2 * kSecond);
  growing.poll();
  now = growing.live.snapshot();
  CHECK(now.script_error == "test.lua:3: broken");
  CHECK(now.restarts == 1);
  CHECK(now.activities.empty());
  growing.packet(kOpen + 2 * kSecond + 1000, 100);
  growing.settle(kOpen + 2 * kSecond + kSecond / 2);
  growing.clock(kOpen + 3 * kSecond);
  growing.poll();
  CHECK(growing.complete() == 1);
}

TEST_CASE("a script that does not fit a trace's points ends the view") {
  LiveOptions options;
  options.script = [](const model::Schema&, std::uint64_t) -> Result<LiveScript> {
    return fail("test.lua:1: no");
  };
  Growing growing(std::move(options));
  growing.packet(kOpen + 1000, 100);
  growing.clock(kOpen + kSecond);
  const auto polled = growing.live.poll([] { return true; });
  REQUIRE_FALSE(polled);
  CHECK(polled.error().text() == "test.lua:1: no");
}

}  // namespace
}  // namespace sojourn::live
