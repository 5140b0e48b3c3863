// Events of many blocks come in time order, in memory of the blocks that overlap.
#include "analysis/trace/merge.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

// Runs of events as a file has them, merged without a file.
struct Blocks {
  std::vector<Events> events;
  std::vector<BlockInfo> infos;
  std::size_t loaded = 0;
  MergeStatistics statistics;

  void add(Events block) {
    const auto [first, last] = std::ranges::minmax(block, {}, &Event::ts_ns);
    infos.push_back({.offset = events.size(),
                     .bytes = 0,
                     .stream = block.front().stream,
                     .events = static_cast<std::uint32_t>(block.size()),
                     .first_seq = block.front().seq,
                     .last_seq = block.back().seq,
                     .min_ts_ns = first.ts_ns,
                     .max_ts_ns = last.ts_ns});
    events.push_back(std::move(block));
  }

  Events merge(std::size_t most = SIZE_MAX) {
    Events out;
    const auto merged = merge_blocks(
        infos,
        [&](const BlockInfo& info, model::EventBatch& into) {
          ++loaded;
          into = to_batch(events[info.offset]);
        },
        [&](const model::EventBatch& batch) {
          append_to(batch, out);
          return out.size() < most;
        });
    REQUIRE(error_of(merged) == "");
    statistics = *merged;
    return out;
  }

  // By the definition: a stable sort of everything by time, then stream, then place in the file.
  Events sorted_by_definition() const {
    Events all;
    for (const Events& block : events) all.insert(all.end(), block.begin(), block.end());
    return sorted(std::move(all));
  }
};

// `disorder` is how far, in ns, an event may come late; times repeat often.
Blocks some_blocks(std::uint64_t seed, std::uint32_t streams, std::size_t blocks,
                   std::uint64_t disorder) {
  std::mt19937_64 random(seed);
  Blocks result;
  std::vector<std::uint64_t> now(streams, 1000);
  std::vector<std::uint64_t> seq(streams, 0);
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto stream = static_cast<std::uint32_t>(random() % streams);
    Events block;
    const std::size_t count = 1 + random() % 40;
    for (std::size_t row = 0; row < count; ++row) {
      now[stream] += random() % 3;
      const std::uint64_t late = disorder == 0 ? 0 : random() % disorder;
      block.push_back({.ts_ns = now[stream] - std::min(late, now[stream]),
                       .seq = seq[stream]++,
                       .stream = stream,
                       .tid = 1,
                       .point = 0,
                       .values = {}});
    }
    result.add(std::move(block));
  }
  return result;
}

TEST_CASE("no blocks give no events") {
  Blocks blocks;
  CHECK(blocks.merge().empty());
}

TEST_CASE("merged events are those of a stable sort") {
  for (const std::uint64_t disorder : {0, 1, 5, 100, 10'000})
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      INFO("seed " << seed << ", disorder " << disorder);
      Blocks blocks = some_blocks(seed, 1 + static_cast<std::uint32_t>(seed % 7), 60, disorder);
      const Events merged = blocks.merge();
      REQUIRE(merged == blocks.sorted_by_definition());
      REQUIRE(blocks.loaded == 60);
    }
}

TEST_CASE("events of one instant come by stream, and within a stream as they were written") {
  Blocks blocks;
  for (const std::uint32_t stream : {2U, 0U, 1U, 0U, 2U}) {
    Events block;
    for (std::uint64_t i = 0; i < 3; ++i)
      block.push_back({.ts_ns = 5,
                       .seq = 10 * blocks.events.size() + i,
                       .stream = stream,
                       .tid = 1,
                       .point = 0,
                       .values = {}});
    blocks.add(std::move(block));
  }
  std::vector<std::uint64_t> numbers;
  for (const Event& event : blocks.merge()) numbers.push_back(event.seq);
  CHECK(numbers ==
        std::vector<std::uint64_t>{10, 11, 12, 30, 31, 32, 20, 21, 22, 0, 1, 2, 40, 41, 42});
}

TEST_CASE("a block that spans all others does not hold them back") {
  Blocks blocks;
  blocks.add({{.ts_ns = 0, .seq = 0, .stream = 0, .tid = 1, .point = 0, .values = {}},
              {.ts_ns = 1'000'000, .seq = 1, .stream = 0, .tid = 1, .point = 0, .values = {}}});
  for (std::uint64_t i = 0; i < 1000; ++i)
    blocks.add({{.ts_ns = 10 + i, .seq = i, .stream = 1, .tid = 1, .point = 0, .values = {}}});
  CHECK(blocks.merge() == blocks.sorted_by_definition());
  CHECK(blocks.statistics.max_open_blocks <= 4);
}

TEST_CASE("as many blocks are open as overlap in time, however many there are") {
  for (const std::size_t length : {100, 1000}) {
    Blocks blocks;
    for (std::size_t i = 0; i < length; ++i)
      for (std::uint32_t stream = 0; stream < 4; ++stream) {
        Events block;
        for (std::uint64_t row = 0; row < 10; ++row)
          block.push_back({.ts_ns = 100 * i + 10 * row + stream,
                           .seq = 10 * i + row,
                           .stream = stream,
                           .tid = 1,
                           .point = 0,
                           .values = {}});
        blocks.add(std::move(block));
      }
    CHECK(blocks.merge() == blocks.sorted_by_definition());
    CHECK(blocks.statistics.max_open_blocks <= 8);
  }
}

TEST_CASE("a consumer that has had enough is not called again, and blocks are not opened for it") {
  Blocks blocks;
  std::uint64_t seq = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    Events block;
    for (std::uint64_t row = 0; row < 1000; ++row)
      block.push_back({.ts_ns = seq, .seq = seq, .stream = 0, .tid = 1, .point = 0, .values = {}}),
          ++seq;
    blocks.add(std::move(block));
  }
  const Events some = blocks.merge(1);
  CHECK_FALSE(some.empty());
  CHECK(some.size() < 10'000);
  CHECK(blocks.loaded < 15);
}

TEST_CASE("a block that cannot be loaded is left out, and the others are not disturbed") {
  Blocks blocks = some_blocks(3, 3, 30, 50);
  Events expected;
  for (std::size_t i = 0; i < blocks.events.size(); ++i)
    if (i % 3 != 0)
      expected.insert(expected.end(), blocks.events[i].begin(), blocks.events[i].end());
  Events out;
  const auto done = merge_blocks(
      blocks.infos,
      [&](const BlockInfo& info, model::EventBatch& into) {
        if (info.offset % 3 != 0) into = to_batch(blocks.events[info.offset]);
      },
      [&](const model::EventBatch& batch) {
        append_to(batch, out);
        return true;
      });
  REQUIRE(error_of(done) == "");
  CHECK(out == sorted(expected));
}

TEST_CASE("more overlap than memory is for is an error, not the end of the machine") {
  std::vector<BlockInfo> infos;
  infos.reserve(200);
  for (std::uint32_t stream = 0; stream < 200; ++stream)
    infos.push_back({.offset = stream,
                     .bytes = 0,
                     .stream = stream,
                     .events = kMaxEvents,
                     .first_seq = 0,
                     .last_seq = 0,
                     .min_ts_ns = 0,
                     .max_ts_ns = 0});
  model::EventBatch one_block;
  one_block.reserve(kMaxEvents, 0);
  for (std::uint32_t row = 0; row < kMaxEvents; ++row) one_block.append({.ts_ns = 0, .values = {}});
  std::size_t loaded = 0;
  const auto done = merge_blocks(
      infos,
      [&](const BlockInfo&, model::EventBatch& into) {
        ++loaded;
        into = one_block;
      },
      [](const model::EventBatch&) { return true; });
  CHECK(error_of(done).ends_with("blocks overlap in time, more than can be merged"));
  CHECK(loaded < infos.size());
}

TEST_CASE("a file's merge is the stable sort of its blocks") {
  const TemporaryDirectory folder;
  const model::Schema schema = some_schema();
  std::vector<Events> blocks;
  Events all;
  for (std::uint32_t i = 0; i < 30; ++i) {
    Events block = some_events(i, i % 3, 700, schema);
    for (Event& event : block) {
      event.seq += i / 3 * 700;
      event.ts_ns += i / 3 * 5'000'000;  // overlaps the blocks around it
    }
    all.insert(all.end(), block.begin(), block.end());
    blocks.push_back(std::move(block));
  }
  write_trace(folder.path("t.sjt"), schema, blocks);
  auto reader = files::open_trace(folder.path("t.sjt"));
  REQUIRE(error_of(reader) == "");
  CHECK(merged(*reader) == sorted(all));
  CHECK(reader->gaps().empty());
  CHECK(merged(*reader) == sorted(all));  // and again
}

TEST_CASE("gaps of every stream are known after a merge") {
  const TemporaryDirectory folder;
  const model::Schema schema = some_schema();
  Events first = some_events(1, 4, 10, schema);
  Events second = some_events(2, 9, 10, schema);
  for (Event& event : first) event.seq += 3;
  second.erase(second.begin() + 5, second.begin() + 7);
  const std::vector<Events> blocks = {first, second};
  write_trace(folder.path("t.sjt"), schema, blocks);
  auto reader = files::open_trace(folder.path("t.sjt"));
  REQUIRE(error_of(reader) == "");
  (void)merged(*reader);
  REQUIRE(reader->gaps().size() == 2);
  CHECK(reader->gaps()[0].stream == 4);
  CHECK(reader->gaps()[0].first_seq == 0);
  CHECK(reader->gaps()[0].count == 3);
  CHECK(reader->gaps()[1].stream == 9);
  CHECK(reader->gaps()[1].first_seq == 5);
  CHECK(reader->gaps()[1].count == 2);
  CHECK(reader->gaps()[1].after_ns == second[4].ts_ns);
  CHECK(reader->gaps()[1].before_ns == second[5].ts_ns);
}

}  // namespace
}  // namespace sojourn::trace
