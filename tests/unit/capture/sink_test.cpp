// The writing thread; also run under TSan.
#include "userspace/capture/output/sink.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <semaphore>
#include <span>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::capture {
namespace {

model::Schema one_point() {
  auto point = model::parse_point("D a--b", "len:rnti:");
  REQUIRE(point.has_value());
  return {.points = {*point}};
}

model::EventBatch batch_of(std::uint64_t first, std::size_t events, model::EventBatch batch) {
  for (std::uint64_t seq = first; seq < first + events; ++seq) {
    const std::uint64_t values[] = {seq % 1400, 0x4601};
    batch.append(
        {.ts_ns = 1000 + seq, .seq = seq, .stream = 0, .tid = 7, .point = 0, .values = values});
  }
  return batch;
}

std::unique_ptr<ItemStore> store_for(const std::string& path) {
  auto writer = files::create_trace(path);
  REQUIRE(writer.has_value());
  REQUIRE(writer->write(one_point()));
  return std::make_unique<FileStore>(std::move(*writer));
}

TEST_CASE("pushed items are in the file, in order, while other state is requested") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  constexpr std::size_t kBatches = 300;
  constexpr std::size_t kEvents = 1000;
  {
    Sink sink(store_for(path));
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
      sink.push(batch_of(batch * kEvents, kEvents, sink.empty_batch()));
      sink.push(model::ClockPair{.monotonic_ns = batch});
      CHECK_FALSE(sink.failed());
      (void)sink.has_room();
      (void)sink.bytes();
    }
    REQUIRE(sink.finish());
  }
  auto reader = files::open_trace(path);
  REQUIRE(reader.has_value());
  CHECK(reader->clocks().size() == kBatches);
  std::uint64_t expected = 0;
  REQUIRE(reader->merge([&](const model::EventBatch& events) {
    for (const std::uint64_t seq : events.seq()) CHECK(seq == expected++);
    return true;
  }));
  CHECK(expected == kBatches * kEvents);
  CHECK(reader->gaps().empty());
}

// A store that takes nothing until it is released, and keeps what it took.
class HeldStore final : public ItemStore {
 public:
  struct Taken {
    std::binary_semaphore go{0};
    std::vector<std::uint64_t> seqs;
    std::size_t clocks = 0;
  };
  explicit HeldStore(std::shared_ptr<Taken> taken) : taken_(std::move(taken)) {}
  Result<void> take(const Item& item) override {
    if (std::exchange(is_held_, false)) taken_->go.acquire();
    if (std::holds_alternative<model::ClockPair>(item)) ++taken_->clocks;
    if (const auto* const batch = std::get_if<model::EventBatch>(&item))
      taken_->seqs.insert(taken_->seqs.end(), batch->seq().begin(), batch->seq().end());
    return {};
  }
  Result<void> take_block(std::span<const std::uint8_t>) override { return fail("a block"); }
  Result<void> finish() override { return {}; }
  void abandon() override {}
  std::uint64_t bytes() const override { return 0; }

 private:
  std::shared_ptr<Taken> taken_;
  bool is_held_ = true;
};

TEST_CASE("a sink that is behind gives up the oldest batches, and counts each event of them") {
  constexpr std::uint64_t kBatches = 300;
  constexpr std::uint64_t kEvents = 10;
  const auto taken = std::make_shared<HeldStore::Taken>();
  Sink sink(std::make_unique<HeldStore>(taken));
  sink.when_behind(Sink::Behind::kGiveUpOldest);
  sink.count_points(1);
  for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
    CHECK(sink.has_room());
    sink.push(model::ClockPair{.monotonic_ns = batch});
    sink.push(batch_of(batch * kEvents, kEvents, sink.empty_batch()));
  }
  CHECK(sink.events_by_point() == std::vector<std::uint64_t>{64 * kEvents});
  model::Ledger ledger;
  sink.add_given_up(ledger);
  taken->go.release();
  REQUIRE(sink.finish());

  CHECK(taken->clocks == kBatches);
  REQUIRE(taken->seqs.size() == 64 * kEvents);
  CHECK(std::ranges::is_sorted(taken->seqs));
  CHECK(taken->seqs.front() == (kBatches - 64) * kEvents);
  REQUIRE(ledger.size() == 1);
  CHECK(ledger.front().cause == model::LossCause::kWriterBehind);
  CHECK(ledger.front().count == (kBatches - 64) * kEvents);
}

TEST_CASE("a sink in waiting mode makes the sources wait, and gives up nothing") {
  const auto taken = std::make_shared<HeldStore::Taken>();
  Sink sink(std::make_unique<HeldStore>(taken));
  for (std::uint64_t batch = 0; batch < 100; ++batch) sink.push(batch_of(batch, 1, {}));
  CHECK_FALSE(sink.has_room());
  taken->go.release();
  REQUIRE(sink.finish());
  CHECK(taken->seqs.size() == 100);
}

TEST_CASE("a sink that is dropped without finish() leaves its items, and an older trace, alone") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  std::ofstream(path) << "older";
  {
    Sink(store_for(path)).push(batch_of(0, 10, {}));
  }
  CHECK(test::contents(path) == "older");
  auto reader = files::open_trace(path + ".partial");
  REQUIRE(reader.has_value());
  CHECK(reader->events() == 10);
}

TEST_CASE("an abandoned sink leaves no file, and an older trace alone") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  std::ofstream(path) << "older";
  {
    Sink sink(store_for(path));
    sink.push(batch_of(0, 10, {}));
    sink.abandon();
  }
  CHECK(test::contents(path) == "older");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_CASE("the first write error is kept and returned at the end, and valid data stays") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  // The limit on file sizes stands in for a full disk; it is the whole process's, hence the child.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    Sink sink(store_for(path));
    for (std::uint64_t batch = 0; batch < 1000 && !sink.failed(); ++batch)
      sink.push(batch_of(batch * 1000, 1000, sink.empty_batch()));
    for (int tries = 0; tries < 1000 && !sink.failed(); ++tries) usleep(1000);
    const bool failed = sink.failed();
    const auto finished = sink.finish();
    _exit(failed && !finished && finished.error().text().contains(path) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  auto reader = files::open_trace(path + ".partial");
  REQUIRE(reader.has_value());
  CHECK(reader->events() >= 1000);
  CHECK(reader->damage().empty());
}

// Takes some blocks, and then no more.
class SmallStore final : public ItemStore {
 public:
  struct Taken {
    std::uint64_t blocks = 0;
    model::Ledger ledger;
    bool is_finished = false;
  };

  SmallStore(std::shared_ptr<Taken> taken, std::uint64_t most)
      : taken_(std::move(taken)), most_(most) {}
  Result<void> take(const Item& item) override {
    if (const auto* const ledger = std::get_if<model::Ledger>(&item)) taken_->ledger = *ledger;
    return {};
  }
  Result<void> take_block(std::span<const std::uint8_t>) override {
    if (taken_->blocks == most_) return fail("the disk is full");
    ++taken_->blocks;
    return {};
  }
  Result<void> finish() override {
    taken_->is_finished = true;
    return {};
  }
  void abandon() override {}
  std::uint64_t bytes() const override { return 0; }

 private:
  std::shared_ptr<Taken> taken_;
  std::uint64_t most_;
};

class CountingTap final : public BlockTap {
 public:
  explicit CountingTap(std::uint64_t unread) : unread_(unread) {}
  void take(const Item& item) override { ledgers += std::holds_alternative<model::Ledger>(item); }
  bool take_block(std::span<const std::uint8_t>) override { return blocks++ >= unread_; }
  void finish() override { is_finished = true; }

  std::uint64_t blocks = 0;
  int ledgers = 0;
  bool is_finished = false;

 private:
  std::uint64_t unread_;  // the number of blocks that no reader gets
};

TEST_CASE("a tap gets everything and the end where the store fails") {
  const auto taken = std::make_shared<SmallStore::Taken>();
  CountingTap tap(0);
  Sink sink(std::make_unique<SmallStore>(taken, 3));
  sink.tap(tap, one_point());
  for (std::uint64_t batch = 0; batch < 10; ++batch) sink.push(batch_of(batch * 10, 10, {}));
  while (!sink.failed()) std::this_thread::yield();
  sink.push(batch_of(100, 10, {}));
  sink.push(model::Ledger{});
  const auto finished = sink.finish();
  REQUIRE_FALSE(finished);
  CHECK(finished.error().text() == "the disk is full");
  CHECK(taken->blocks == 3);
  CHECK_FALSE(taken->is_finished);
  CHECK(tap.blocks == 11);
  CHECK(tap.ledgers == 1);
  CHECK(tap.is_finished);
}

TEST_CASE("a store of unread events gets these alone, and its ledger counts the others") {
  const auto taken = std::make_shared<SmallStore::Taken>();
  CountingTap tap(4);
  Sink sink(std::make_unique<SmallStore>(taken, 1000));
  sink.tap(tap, one_point(), Sink::Stored::kUnread);
  for (std::uint64_t batch = 0; batch < 10; ++batch) sink.push(batch_of(batch * 10, 10, {}));
  sink.push(model::Ledger{});
  REQUIRE(sink.finish());
  CHECK(taken->blocks == 4);
  CHECK(tap.blocks == 10);
  REQUIRE(taken->ledger.size() == 1);
  CHECK(taken->ledger.front().cause == model::LossCause::kStreamed);
  CHECK(taken->ledger.front().count == 60);
  CHECK(taken->is_finished);
}

}  // namespace
}  // namespace sojourn::capture
