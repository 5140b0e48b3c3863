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
#include <catch2/generators/catch_generators.hpp>

#include "analysis/trace/byte_source.h"
#include "analysis/trace/completeness.h"
#include "analysis/trace/reader.h"
#include "tests/unit/capture/feed_source.h"

namespace sojourn::capture {
namespace {

model::Host host() {
  model::Host host;
  host.name = "here";
  return host;
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

TEST_CASE("what a watcher has no room for is not counted as lost by readers") {
  const BlockFeed::Limits limits = {
      .sure_bytes = 2'000, .reader_bytes = 20'000, .all_bytes = 30'000};
  BlockFeed feed(model::Host{}, limits);
  const auto watcher = feed.join([] {}, BlockFeed::Kind::kWatcher);
  REQUIRE(watcher);
  Source source(feed);
  for (int block = 0; block < 100; ++block) {
    source.events(100);
    if (block % 10 == 0) source.second();
  }
  source.end();
  CHECK(feed.totals().lost == 0);
  const trace::Reader cut = read(take_all(feed, *watcher));
  const auto found = trace::completeness_of(cut);
  CHECK(found.lost > 0);  // its own ledger counts them
  CHECK(found.lost == source.hits() - cut.events());
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

// Joins the bytes of two connections, of which the first broke in the middle of a block.
std::vector<std::uint8_t> joined(std::vector<std::uint8_t> first, std::size_t cut_bytes,
                                 const std::vector<std::uint8_t>& second) {
  first.resize(first.size() - cut_bytes);
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_CASE(
    "the parts of a reader whose connection broke are one trace, which counts the events between") {
  BlockFeed feed(model::Host{});
  Source source(feed);
  const auto before = join(feed);
  source.events(100);
  source.lose(10);
  source.second();
  source.events(50);  // and of these the end does not arrive
  std::vector<std::uint8_t> first = take_all(feed, *before);
  feed.leave(before);
  source.lose(7);
  source.events(40);
  const auto after = join(feed);
  source.events(30);
  source.second();
  source.events(25);
  source.lose(3);
  source.end();
  const std::vector<std::uint8_t> second = take_all(feed, *after);

  const std::size_t cut_bytes = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{100});
  CAPTURE(cut_bytes);
  const std::uint64_t in_cut_block = cut_bytes == 0 ? 0 : 50;
  const trace::Reader trace = read(joined(std::move(first), cut_bytes, second));
  CHECK(trace.events() == 100 + 50 + 25 - in_cut_block);
  CHECK(trace.capture().open_ns == 1000);
  CHECK(trace.capture().ended_by == "test");
  CHECK(trace.capture().stream_first.empty());
  CHECK(trace.streams().size() == 1);
  CHECK(trace.targets().size() == 1);
  const auto found = trace::completeness_of(trace);
  CHECK(found.cut == 40 + 30 + in_cut_block);
  CHECK(found.lost == found.cut + 10 + 7 + 3);
  CHECK(found.missing == found.lost);
  CHECK(found.unaccounted == 0);
  CHECK(found.ended_in_order);
  CHECK(found.is_whole() == (cut_bytes == 0));  // a block that was cut is damage
}

TEST_CASE("losses of a slow reader before its connection broke are counted apart") {
  const BlockFeed::Limits limits = {
      .sure_bytes = 2'000, .reader_bytes = 20'000, .all_bytes = 30'000};
  BlockFeed feed(model::Host{}, limits);
  Source source(feed);
  const auto slow = join(feed);
  for (int block = 0; block < 100; ++block) {
    source.events(100);
    if (block % 10 == 0) source.second();
  }
  std::vector<std::uint8_t> first = take_all(feed, *slow);
  source.second();
  const auto accounts = take_all(feed, *slow);
  first.insert(first.end(), accounts.begin(), accounts.end());
  const std::uint64_t was_behind = feed.totals().lost;
  REQUIRE(was_behind > 0);
  feed.leave(slow);
  source.events(60);
  const auto again = join(feed);
  source.second();
  source.events(5);
  source.end();

  const trace::Reader trace = read(joined(std::move(first), 0, take_all(feed, *again)));
  const auto found = trace::completeness_of(trace);
  CHECK(found.is_whole());
  CHECK(found.cut == 60);
  CHECK(found.lost == 60 + was_behind);
  CHECK(trace.events() + found.lost == source.hits());
}

TEST_CASE("a connection may break again and again") {
  BlockFeed feed(model::Host{});
  Source source(feed);
  std::vector<std::uint8_t> all;
  std::uint64_t passed = 0;
  for (std::uint64_t part = 1; part <= 5; ++part) {
    const auto reader = join(feed);
    source.second();
    source.events(10 * part);
    source.lose(part);
    if (part == 5) source.end();
    const auto bytes = take_all(feed, *reader);
    all.insert(all.end(), bytes.begin(), bytes.end());
    feed.leave(reader);
    if (part == 5) break;
    source.events(3 * part);
    passed += 3 * part;
  }
  const trace::Reader trace = read(all);
  const auto found = trace::completeness_of(trace);
  CHECK(found.is_whole());
  CHECK(found.cut == passed);
  CHECK(found.lost == passed + 1 + 2 + 3 + 4 + 5);
  CHECK(trace.events() + found.lost == source.hits());
}

TEST_CASE("a part of another capture does not follow") {
  BlockFeed feed(model::Host{});
  BlockFeed other_feed(model::Host{});
  const auto reader = join(feed);
  const auto other_reader = join(other_feed);
  Source source(feed);
  Source other(other_feed);
  source.events(10);
  other.events(20);
  other.end();
  const trace::Reader trace =
      read(joined(take_all(feed, *reader), 0, take_all(other_feed, *other_reader)));
  CHECK(trace::completeness_of(trace).cut == 0);
}

}  // namespace
}  // namespace sojourn::capture
