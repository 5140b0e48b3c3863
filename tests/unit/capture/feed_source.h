// A capture of one stream, in the form in which a sink passes it to a BlockFeed, and a reader that
// takes everything.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/block_packer.h"
#include "userspace/capture/stream/block_feed.h"

namespace sojourn::capture {

inline model::Schema one_point() {
  auto point = model::parse_point("D a--b", "len:rnti:");
  REQUIRE(point.has_value());
  return {.points = {*point}};
}

// A capture of one stream, passed to a feed as by its sink.
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

inline std::shared_ptr<BlockFeed::Reader> join(BlockFeed& feed) {
  auto reader = feed.join([] {});
  REQUIRE(reader);
  return reader;
}

inline std::vector<std::uint8_t> take_all(BlockFeed& feed, BlockFeed::Reader& reader) {
  std::vector<std::uint8_t> bytes;
  for (;;) {
    const auto chunks = feed.waiting(reader, 3);
    if (chunks.empty()) return bytes;
    for (const auto& chunk : chunks) bytes.insert(bytes.end(), chunk->begin(), chunk->end());
    feed.consume(reader, chunks.size());
  }
}

}  // namespace sojourn::capture
