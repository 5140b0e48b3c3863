// The events that a flight recorder holds, forgets and dumps.
#include "userspace/capture/output/item_store.h"

#include <filesystem>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::capture {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kPerBatch = 100;
constexpr std::int64_t kSecond = 1'000'000'000;

History history_of(std::int64_t span_ns) {
  return {.span = nanoseconds(span_ns), .events = 0, .bytes = 1 << 30};
}

model::Schema one_point() {
  auto point = model::parse_point("D a--b", "len:rnti:");
  REQUIRE(point.has_value());
  return {.points = {*point}};
}

// Events of a stream, one a microsecond.
model::EventBatch batch_of(std::uint32_t stream, std::uint64_t first) {
  model::EventBatch batch;
  for (std::uint64_t seq = first; seq < first + kPerBatch; ++seq) {
    const std::uint64_t values[] = {seq, 0x4601};
    batch.append({.ts_ns = 1000 * (seq + 1),
                  .seq = seq,
                  .stream = stream,
                  .tid = 7,
                  .point = 0,
                  .values = values});
  }
  return batch;
}

FlightStore filled(const History& history, std::uint64_t batches) {
  model::Host host;
  host.name = "host";
  model::Target target;
  target.pid = 42;
  FlightStore store(history, host);
  REQUIRE(store.take(one_point()));
  for (std::uint32_t stream : {0u, 1u}) REQUIRE(store.take(model::Stream{.id = stream}));
  REQUIRE(store.take(target));
  for (std::uint64_t batch = 0; batch < batches; ++batch)
    for (std::uint32_t stream : {0u, 1u}) REQUIRE(store.take(batch_of(stream, batch * kPerBatch)));
  return store;
}

trace::Reader dumped(const FlightStore& store, const std::string& path) {
  model::Capture about;
  about.open_ns = 10;
  about.close_ns = 2'000'000;
  about.ended_by = "test";
  const auto done = store.dump(path, about);
  if (!done) FAIL(done.error().text());
  auto reader = files::open_trace(path);
  REQUIRE(reader.has_value());
  CHECK(reader->events() == done->events);
  CHECK(reader->bytes() == done->bytes);
  return std::move(*reader);
}

TEST_CASE(
    "a dump is a whole trace of the newest events, and has the instant from which on it is exact") {
  const test::TemporaryDirectory directory;
  const auto store = filled(history_of(350'000), 10);  // of a millisecond
  trace::Reader reader = dumped(store, directory.path("run-1.sjt"));
  REQUIRE(reader.merge([](const model::EventBatch&) { return true; }));
  CHECK(reader.damage().empty());
  CHECK(reader.gaps().empty());
  CHECK(reader.target().pid == 42);
  CHECK(reader.host().name == "host");
  CHECK(reader.streams().size() == 2);
  CHECK(reader.schema() == one_point());
  // The blocks that the span reaches into: those that end at 700, 800, 900 and 1000 us.
  CHECK(reader.events() == 2 * 4 * kPerBatch);
  CHECK(reader.capture().open_ns == 600'001);
  CHECK(reader.capture().close_ns == 2'000'000);
  CHECK(reader.capture().ended_by == "test");
  CHECK(reader.capture().stream_first == std::vector<std::uint64_t>{600, 600});
}

TEST_CASE("a dump before anything was forgotten begins where the capture does") {
  const test::TemporaryDirectory directory;
  const auto store = filled(history_of(kSecond), 3);
  trace::Reader reader = dumped(store, directory.path("run-1.sjt"));
  CHECK(reader.events() == 2 * 3 * kPerBatch);
  CHECK(reader.capture().open_ns == 10);
  CHECK(reader.capture().stream_first.empty());
}

TEST_CASE("history is counted in events where that is asked for") {
  const auto store = filled({.span = {}, .events = 250, .bytes = 1 << 30}, 10);
  const test::TemporaryDirectory directory;
  CHECK(dumped(store, directory.path("run-1.sjt")).events() == 300);
}

TEST_CASE("pinned events are not forgotten until they are unpinned") {
  const History history{.span = {}, .events = 250, .bytes = 1 << 30};
  FlightStore store = filled(history, 10);
  const test::TemporaryDirectory directory;
  store.pin();
  for (std::uint64_t batch = 10; batch < 20; ++batch)
    REQUIRE(store.take(batch_of(0, batch * kPerBatch)));
  CHECK(dumped(store, directory.path("run-1.sjt")).events() == 1300);
  store.unpin();
  REQUIRE(store.take(batch_of(0, 20 * kPerBatch)));
  CHECK(dumped(store, directory.path("run-2.sjt")).events() == 300);
}

TEST_CASE("the memory limit holds for pinned items as well") {
  const auto all = filled(history_of(kSecond), 100);
  const std::size_t limit = all.bytes() / 4;
  const auto store = filled({.span = nanoseconds(kSecond), .events = 0, .bytes = limit}, 100);
  CHECK(store.bytes() <= limit);
  CHECK(store.bytes() > limit / 2);

  FlightStore pinned({.span = nanoseconds(kSecond), .events = 0, .bytes = limit}, {});
  REQUIRE(pinned.take(one_point()));
  pinned.pin();
  for (std::uint64_t batch = 0; batch < 200; ++batch)
    REQUIRE(pinned.take(batch_of(0, batch * kPerBatch)));
  CHECK(pinned.bytes() <= limit);
}

TEST_CASE(
    "a stream that lost events before the history began shows no gap for them, a later loss does") {
  const test::TemporaryDirectory directory;
  FlightStore store(history_of(50'000), {});
  REQUIRE(store.take(one_point()));
  REQUIRE(store.take(batch_of(0, 500)));  // 500 were lost before
  REQUIRE(store.take(batch_of(0, 600)));
  REQUIRE(store.take(batch_of(0, 720)));  // and 20 here
  trace::Reader reader = dumped(store, directory.path("run-1.sjt"));
  REQUIRE(reader.merge([](const model::EventBatch&) { return true; }));
  CHECK(reader.capture().stream_first == std::vector<std::uint64_t>{700});
  REQUIRE(reader.gaps().size() == 1);
  CHECK(reader.gaps()[0].first_seq == 700);
  CHECK(reader.gaps()[0].count == 20);
}

TEST_CASE("a dump that cannot be written leaves nothing behind, and the history as it was") {
  const test::TemporaryDirectory directory;
  const auto store = filled(history_of(350'000), 10);
  const auto done = store.dump(directory.path("missing/run.sjt"), {});
  REQUIRE_FALSE(done);
  CHECK(done.error().text().contains("missing/run.sjt"));
  CHECK(dumped(store, directory.path("run.sjt")).events() == 2 * 4 * kPerBatch);
}

}  // namespace
}  // namespace sojourn::capture
