// The blocks that readers of a running capture get; also run under TSan.
#include "userspace/capture/stream/block_feed.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/block_packer.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/completeness.h"
#include "analysis/trace/reader.h"

namespace sojourn::capture {
namespace {

model::Host host() {
  model::Host host;
  host.name = "here";
  return host;
}

model::Schema one_point() {
  auto point = model::parse_point("D a--b", "len:rnti:");
  REQUIRE(point.has_value());
  return {.points = {*point}};
}

// A capture of one stream, as its sink tells of it.
class Source {
 public:
  explicit Source(BlockFeed& feed) : feed_(&feed) {
    feed.take(one_point());
    feed.take(model::ClockPair{.monotonic_ns = 1, .realtime_ns = 2});
    feed.take(model::Stream{.id = 0, .engine = model::Engine::kRing, .tid = 7});
    feed.take(about());
  }

  // Values that compress badly, so that blocks have some size.
  void events(std::uint64_t count) {
    model::EventBatch batch;
    for (const std::uint64_t end = next_ + count; next_ < end; ++next_) {
      const std::uint64_t values[] = {next_ * 0x9e3779b97f4a7c15, 0x4601};
      batch.append({.ts_ns = 1000 + next_, .seq = next_, .tid = 7, .values = values});
    }
    REQUIRE(packer_.pack(batch, one_point(), [this](std::span<const std::uint8_t> block) {
      feed_->take_block(block);
      return Result<void>{};
    }));
  }
  void lose(std::uint64_t count) {
    next_ += count;
    lost_ += count;
  }
  void second() {
    feed_->take(model::ClockPair{.monotonic_ns = 1000 + next_, .realtime_ns = 5});
    feed_->take(ledger());
  }
  void end() {
    feed_->take(ledger());
    model::Capture ended = about();
    ended.close_ns = 1000 + next_;
    ended.ended_by = "test";
    ended.target_cpu_ns = 77;
    ended.stream_hits = {next_};
    feed_->take(ended);
    feed_->finish();
  }
  std::uint64_t hits() const { return next_; }

 private:
  static model::Capture about() {
    model::Capture capture;
    capture.tracer = "test";
    capture.engine = model::Engine::kRing;
    capture.open_ns = 1000;
    return capture;
  }
  model::Ledger ledger() const {
    if (lost_ == 0) return {};
    return {{.stream = 0, .point = 0, .cause = model::LossCause::kRingFull, .count = lost_}};
  }

  BlockFeed* feed_;
  trace::BlockPacker packer_;
  std::uint64_t next_ = 0;
  std::uint64_t lost_ = 0;
};

std::shared_ptr<BlockFeed::Reader> join(BlockFeed& feed) {
  auto reader = feed.join([] {});
  REQUIRE(reader);
  return reader;
}

std::vector<std::uint8_t> take_all(BlockFeed& feed, BlockFeed::Reader& reader) {
  std::vector<std::uint8_t> bytes;
  for (;;) {
    const auto chunks = feed.waiting(reader, 3);
    if (chunks.empty()) return bytes;
    for (const auto& chunk : chunks) bytes.insert(bytes.end(), chunk->begin(), chunk->end());
    feed.consume(reader, chunks.size());
  }
}

trace::Reader read(const std::vector<std::uint8_t>& bytes) {
  auto reader = trace::Reader::open(std::make_unique<trace::MemorySource>("stream", bytes));
  REQUIRE(reader);
  REQUIRE(reader->merge([](const model::EventBatch&) { return true; }));
  return std::move(*reader);
}

TEST_CASE("a reader that was there from the beginning gets a whole trace") {
  BlockFeed feed(host());
  const auto reader = join(feed);
  Source source(feed);
  source.events(100);
  source.lose(10);
  source.second();
  source.events(50);
  CHECK_FALSE(feed.is_complete(*reader));
  source.end();
  const auto bytes = take_all(feed, *reader);
  CHECK(feed.is_complete(*reader));

  const trace::Reader trace = read(bytes);
  CHECK(trace.events() == 150);
  CHECK(trace.host().name == "here");
  CHECK(trace.capture().ended_by == "test");
  CHECK(trace.capture().open_ns == 1000);
  CHECK(trace.capture().target_cpu_ns == 77);
  CHECK(trace.streams().size() == 1);
  const auto found = trace::completeness_of(trace);
  CHECK(found.is_whole());
  CHECK(found.lost == 10);
  CHECK(found.missing == 10);
}

TEST_CASE("a reader that comes later begins at the next ledger, and owes nothing before it") {
  BlockFeed feed(model::Host{});
  Source source(feed);
  source.events(100);
  source.lose(10);
  const auto reader = join(feed);
  source.events(20);
  CHECK(feed.waiting(*reader, 9).empty());
  source.second();
  source.events(30);
  source.lose(5);
  source.end();

  const trace::Reader trace = read(take_all(feed, *reader));
  CHECK(trace.events() == 30);
  CHECK(trace.capture().open_ns == 1000 + 130);
  CHECK(trace.capture().stream_first == std::vector<std::uint64_t>{130});
  CHECK(trace.capture().target_cpu_ns == 0);  // of the whole capture: not of this part
  const auto found = trace::completeness_of(trace);
  CHECK(found.is_whole());
  CHECK(found.lost == 5);
  CHECK(found.missing == 5);
}

TEST_CASE("a reader that takes nothing loses whole blocks, which its own ledger counts") {
  const BlockFeed::Limits limits = {
      .sure_bytes = 2'000, .reader_bytes = 20'000, .all_bytes = 30'000};
  BlockFeed feed(model::Host{}, limits);
  const auto slow = join(feed);
  const auto quick = join(feed);
  Source source(feed);
  std::vector<std::uint8_t> quick_bytes;
  const auto take = [&] {
    const auto bytes = take_all(feed, *quick);
    quick_bytes.insert(quick_bytes.end(), bytes.begin(), bytes.end());
  };
  for (int block = 0; block < 100; ++block) {
    source.events(100);
    if (block % 10 == 0) source.second();
    take();
    CHECK(feed.totals().waiting_bytes <= limits.reader_bytes);
  }
  CHECK(feed.totals().lost > 0);
  const auto first_bytes = take_all(feed, *slow);  // and now it goes on
  source.events(100);
  source.end();
  take();
  auto slow_bytes = first_bytes;
  const auto rest = take_all(feed, *slow);
  slow_bytes.insert(slow_bytes.end(), rest.begin(), rest.end());

  const trace::Reader whole = read(quick_bytes);
  CHECK(whole.events() == source.hits());
  CHECK(trace::completeness_of(whole).lost == 0);
  const trace::Reader cut = read(slow_bytes);
  CHECK(cut.events() < source.hits());
  CHECK(cut.events() > 0);
  const auto found = trace::completeness_of(cut);
  CHECK(found.is_whole());
  CHECK(found.lost == source.hits() - cut.events());
  CHECK(found.lost == feed.totals().lost);
  CHECK(cut.capture().ended_by == "test");
  CHECK(std::ranges::all_of(cut.ledger(), [](const model::LedgerEntry& entry) {
    return entry.cause == model::LossCause::kWriterBehind;
  }));
}

TEST_CASE("readers that take nothing are bounded all together") {
  constexpr std::size_t kReaders = 10;
  const BlockFeed::Limits limits = {
      .sure_bytes = 2'000, .reader_bytes = 20'000, .all_bytes = 30'000, .readers = kReaders};
  BlockFeed feed(model::Host{}, limits);
  std::vector<std::shared_ptr<BlockFeed::Reader>> readers;
  for (std::size_t reader = 0; reader < kReaders; ++reader) readers.push_back(join(feed));
  CHECK(feed.join([] {}) == nullptr);
  Source source(feed);
  for (int block = 0; block < 200; ++block) source.events(100);
  CHECK(feed.totals().waiting_bytes <= limits.all_bytes + kReaders * limits.sure_bytes);
  for (const auto& reader : readers) CHECK_FALSE(feed.waiting(*reader, 1).empty());
  for (const auto& reader : readers) feed.leave(reader);
  CHECK(feed.totals().waiting_bytes == 0);
  CHECK(feed.join([] {}) != nullptr);
}

TEST_CASE("readers that take nothing do not keep the room that others need") {
  const BlockFeed::Limits limits = {
      .sure_bytes = 2'000, .reader_bytes = 40'000, .all_bytes = 30'000};
  BlockFeed feed(model::Host{}, limits);
  std::vector<std::shared_ptr<BlockFeed::Reader>> dead;
  for (int reader = 0; reader < 5; ++reader) dead.push_back(join(feed));
  Source source(feed);
  for (int block = 0; block < 100; ++block) source.events(100);
  CHECK(feed.totals().waiting_bytes > 25'000);
  const auto half_sent = feed.waiting(*dead.front(), 3);  // under way while the others are cut
  for (int second = 0; second < 3; ++second) source.second();
  const auto quick = join(feed);
  source.second();
  std::vector<std::uint8_t> quick_bytes;
  for (int burst = 0; burst < 20; ++burst) {
    for (int block = 0; block < 10; ++block) source.events(100);  // some 9,000 bytes
    const auto bytes = take_all(feed, *quick);
    quick_bytes.insert(quick_bytes.end(), bytes.begin(), bytes.end());
  }
  feed.consume(*dead.front(), half_sent.size());
  std::vector<std::uint8_t> dead_bytes;
  for (const auto& chunk : half_sent)
    dead_bytes.insert(dead_bytes.end(), chunk->begin(), chunk->end());
  source.end();
  for (auto* const bytes : {&quick_bytes, &dead_bytes}) {
    const auto rest = take_all(feed, bytes == &quick_bytes ? *quick : *dead.front());
    bytes->insert(bytes->end(), rest.begin(), rest.end());
  }
  const trace::Reader whole = read(quick_bytes);
  CHECK(whole.events() == 20'000);
  CHECK(trace::completeness_of(whole).is_whole());
  CHECK(trace::completeness_of(whole).lost == 0);
  const trace::Reader cut = read(dead_bytes);
  CHECK(trace::completeness_of(cut).is_whole());
  CHECK(trace::completeness_of(cut).lost == source.hits() - cut.events());
}

TEST_CASE("no event comes before the schema that describes it, however slow the reader") {
  const BlockFeed::Limits limits = {.sure_bytes = 1'000, .reader_bytes = 3'000, .all_bytes = 3'000};
  BlockFeed feed(model::Host{}, limits);
  const auto reader = join(feed);
  Source source(feed);
  for (int block = 0; block < 50; ++block) source.events(100);
  model::Schema grown = one_point();
  grown.points.push_back(grown.points.front());
  grown.points.back().src = "other";
  feed.take(grown);
  for (int block = 0; block < 50; ++block) source.events(100);
  auto bytes = take_all(feed, *reader);
  source.events(100);
  source.end();
  const auto rest = take_all(feed, *reader);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  const trace::Reader trace = read(bytes);
  CHECK(trace.schema().points.size() == 2);
  CHECK(trace.damage().empty());
  CHECK(trace::completeness_of(trace).is_whole());
}

TEST_CASE("readers come, read and go while the capture runs") {
  BlockFeed feed(model::Host{});
  Source source(feed);
  std::atomic<bool> stops = false;
  std::atomic<std::uint64_t> woken = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      while (!stops) {
        const auto reader = feed.join([&woken] { ++woken; });
        if (!reader) continue;
        for (int turn = 0; turn < 20; ++turn) {
          feed.consume(*reader, feed.waiting(*reader, 2).size());
          std::this_thread::yield();
        }
        feed.leave(reader);
      }
    });
  for (int block = 0; block < 300; ++block) {
    source.events(10);
    source.second();
  }
  source.end();
  stops = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(feed.totals().waiting_bytes == 0);
  CHECK(feed.totals().readers > 0);
}

}  // namespace
}  // namespace sojourn::capture
