// All events and metadata that were written are read back the same.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

// The events of one stream, written and read block by block.
Events there_and_back(const model::Schema& schema, std::span<const Events> blocks) {
  const TemporaryDirectory folder;
  write_trace(folder.path("t.sjt"), schema, blocks);
  auto reader = files::open_trace(folder.path("t.sjt"));
  REQUIRE(error_of(reader) == "");
  CHECK(reader->schema() == schema);
  CHECK(reader->damage().empty());
  CHECK(reader->had_index());
  Events events;
  model::EventBatch batch;
  for (const BlockInfo& info : reader->blocks()) {
    batch.clear();
    REQUIRE(error_of(reader->read(info, batch)) == "");
    CHECK(batch.size() == info.events);
    append_to(batch, events);
  }
  CHECK(reader->events() == events.size());
  return events;
}

Events there_and_back(const model::Schema& schema, const Events& events) {
  return there_and_back(schema, std::span(&events, 1));
}

TEST_CASE("traffic comes back as it was written") {
  const model::Schema schema = some_schema();
  for (const std::size_t count : {1, 2, 3, 255, 256, 257, 5000, 70'000}) {
    const Events events = some_events(count, 0, count, schema);
    CHECK(there_and_back(schema, events) == events);
  }
}

TEST_CASE("extreme values come back as they were written") {
  const model::Schema schema = some_schema();
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kSigns = std::uint64_t{1} << 63;
  const std::vector<std::uint64_t> extremes = {
      0,    1,          0x7f,   0x80,       0xff, 0x100, 0xffff,        0x10000,
      kMax, kSigns - 1, kSigns, kSigns + 1, 0,    kMax,  kMax - 0x4601, 0x5555555555555555};
  Events events;
  for (std::size_t shift = 0; shift < 3 * extremes.size(); ++shift) {
    Event event{.ts_ns = 5, .seq = shift, .stream = 1, .tid = 1, .point = 3, .values = {}};
    for (std::size_t field = 0; field < 16; ++field)
      event.values.push_back(extremes[(shift + field * 3) % extremes.size()]);
    events.push_back(event);
  }
  CHECK(there_and_back(schema, events) == events);
}

TEST_CASE("extreme times, numbers, threads and streams come back") {
  const model::Schema schema = some_schema();
  constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();
  constexpr auto kMax32 = std::numeric_limits<std::uint32_t>::max();
  Events events;
  for (const std::uint64_t ts_ns :
       {std::uint64_t{0}, kMax64, std::uint64_t{1}, kMax64 - 1, kMax64 / 2, std::uint64_t{0}})
    for (const std::uint32_t tid : {0U, 1U, kMax32, kMax32 / 2})
      events.push_back({.ts_ns = ts_ns,
                        .seq = ts_ns + tid,
                        .stream = kMax32,
                        .tid = tid,
                        .point = 0,
                        .values = {}});
  CHECK(there_and_back(schema, events) == events);
}

TEST_CASE("events without fields come back") {
  const model::Schema schema = some_schema();
  Events events;
  for (std::uint64_t i = 0; i < 100; ++i)
    events.push_back({.ts_ns = 100 + i, .seq = i, .stream = 0, .tid = 1, .point = 0, .values = {}});
  CHECK(there_and_back(schema, events) == events);
}

TEST_CASE("time that goes back within a stream comes back as it went") {
  const model::Schema schema = some_schema();
  Events events = some_events(7, 0, 1000, schema);
  std::ranges::reverse(events);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].seq = i;
  CHECK(there_and_back(schema, events) == events);
}

TEST_CASE("sequence numbers come back with gaps, repeats and out of order") {
  const model::Schema schema = some_schema();
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    Events events = some_events(static_cast<std::uint64_t>(round), 0, 300, schema);
    std::uint64_t seq = random() % 1000;
    for (Event& event : events) {
      event.seq = seq;
      const auto dice = random() % 20;
      seq += dice == 0 ? random() % 100 : dice == 1 ? 0 - random() % 50 : dice == 2 ? random() : 1;
    }
    CHECK(there_and_back(schema, events) == events);
  }
}

TEST_CASE("a value wider than its field says is kept whole") {
  model::Schema schema = some_schema();
  for (model::Field& field : schema.points[2].fields) field.bytes = 1;
  const Events events = {{.ts_ns = 1,
                          .seq = 0,
                          .stream = 0,
                          .tid = 1,
                          .point = 2,
                          .values = {1500, 0x4601, 70'000, 1u << 30, ~std::uint64_t{0}}}};
  CHECK(there_and_back(schema, events) == events);
}

TEST_CASE("random values of every width come back") {
  const model::Schema schema = some_schema();
  std::mt19937_64 random(23);
  for (int round = 0; round < 20; ++round) {
    Events events = some_events(static_cast<std::uint64_t>(round), 3, 500, schema);
    for (Event& event : events)
      for (std::uint64_t& value : event.values) value = random() >> (random() % 64);
    CHECK(there_and_back(schema, events) == events);
  }
}

TEST_CASE("more threads than events of a point come back") {
  const model::Schema schema = some_schema();
  Events events = some_events(3, 0, 2000, schema);
  for (std::size_t i = 0; i < events.size(); ++i)
    events[i].tid = static_cast<std::uint32_t>(i * 77);
  CHECK(there_and_back(schema, events) == events);
}

TEST_CASE("an empty batch leaves no trace") {
  const model::Schema schema = some_schema();
  const std::vector<Events> blocks = {{}, some_events(1, 0, 3, schema), {}};
  CHECK(there_and_back(schema, blocks) == blocks[1]);
}

TEST_CASE("a trace without events is a trace") {
  const TemporaryDirectory folder;
  write_trace(folder.path("t.sjt"), {}, {});
  auto reader = files::open_trace(folder.path("t.sjt"));
  REQUIRE(error_of(reader) == "");
  CHECK(reader->events() == 0);
  CHECK(reader->damage().empty());
  CHECK(merged(*reader).empty());
}

TEST_CASE("many streams keep their own events and order") {
  const model::Schema schema = some_schema();
  std::vector<Events> blocks;
  for (std::uint32_t round = 0; round < 4; ++round)
    for (std::uint32_t stream = 0; stream < 50; ++stream) {
      Events events = some_events(stream, stream * 1000, 40, schema);
      for (Event& event : events) event.seq += 40 * round;
      blocks.push_back(std::move(events));
    }
  Events all;
  for (const Events& events : blocks) all.insert(all.end(), events.begin(), events.end());
  CHECK(there_and_back(schema, blocks) == all);
}

TEST_CASE("a block has its stream, its events and their spans") {
  const TemporaryDirectory folder;
  const model::Schema schema = some_schema();
  Events events = some_events(5, 9, 100, schema);
  events[40].ts_ns = 3;
  events[41].seq = 7777;
  write_trace(folder.path("t.sjt"), schema, std::span(&events, 1));
  auto reader = files::open_trace(folder.path("t.sjt"));
  REQUIRE(error_of(reader) == "");
  REQUIRE(reader->blocks().size() == 1);
  const BlockInfo& info = reader->blocks().front();
  CHECK(info.stream == 9);
  CHECK(info.events == 100);
  CHECK(info.first_seq == 0);
  CHECK(info.last_seq == 7777);
  CHECK(info.min_ts_ns == 3);
  CHECK(info.max_ts_ns == std::ranges::max(events, {}, &Event::ts_ns).ts_ns);
}

TEST_CASE("events of points that a later schema adds are read with it") {
  const TemporaryDirectory folder;
  const model::Schema both = some_schema();
  model::Schema first = both;
  first.points.resize(2);
  auto writer = files::create_trace(folder.path("t.sjt"));
  REQUIRE(error_of(writer) == "");
  const Events early = some_events(1, 0, 10, first);
  const Events late = some_events(2, 0, 10, both);
  REQUIRE(error_of(writer->write(first)) == "");
  REQUIRE(error_of(writer->write(to_batch(early))) == "");
  REQUIRE(error_of(writer->write(both)) == "");
  REQUIRE(error_of(writer->write(to_batch(late))) == "");
  REQUIRE(error_of(writer->finish()) == "");

  auto reader = files::open_trace(folder.path("t.sjt"));
  REQUIRE(error_of(reader) == "");
  CHECK(reader->schema() == both);
  Events expected = early;
  expected.insert(expected.end(), late.begin(), late.end());
  CHECK(merged(*reader) == sorted(expected));
}

}  // namespace
}  // namespace sojourn::trace
