// Rebuilds the journeys of a running capture from its feed, as a reader of it: blocks are taken
// apart, events put into time order behind a watermark, and the figures of the rebuilt journeys are
// gathered. A follower that falls behind loses whole blocks as any reader does, and never holds the
// capture up. One thread owns a FeedFollower.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/journeys/live_rebuilder.h"
#include "analysis/journeys/topology.h"
#include "analysis/links/resolver.h"
#include "analysis/metrics/exposition.h"
#include "analysis/metrics/journey_metrics.h"
#include "analysis/metrics/slow_packets.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/pipeline/observer_list.h"
#include "analysis/trace/block.h"
#include "analysis/trace/codec.h"
#include "userspace/capture/stream/block_feed.h"

namespace sojourn::capture {

class FeedFollower {
 public:
  // `flush_period`: how often the capture hands over blocks that are not full yet. `wake`: see
  // BlockFeed. The feed must outlive this. `ues`: the number of UEs that have figures of their own.
  FeedFollower(BlockFeed& feed, std::chrono::nanoseconds flush_period, std::size_t ues,
               BlockFeed::Wake wake);
  FeedFollower(const FeedFollower&) = delete;
  FeedFollower& operator=(const FeedFollower&) = delete;
  ~FeedFollower();

  // Takes some of the waiting blocks. Returns true if there may be more.
  bool follow();

  // Nothing more will come: rebuilds what waits, and closes all journeys.
  void finish();

  // Returns true once after each rebuild of journeys, because the figures have changed.
  bool has_news() { return std::exchange(has_news_, false); }
  // The figures so far.
  std::vector<metrics::Family> families() const;
  const std::optional<model::ClockPair>& clock() const { return clock_; }

 private:
  void take(std::span<const std::uint8_t> chunk);
  Result<void> take_block(const trace::BlockHeader& header, std::span<const std::uint8_t> payload);
  Result<void> take_events(const trace::BlockHeader& header, std::span<const std::uint8_t> columns);
  void restart();
  void advance(std::uint64_t clock_ns);

  BlockFeed* feed_;
  std::uint64_t lag_ns_;  // how far the watermark is behind the clock
  std::shared_ptr<BlockFeed::Reader> reader_;
  trace::BlockOpener opener_;
  trace::EventDecoder decoder_;
  model::Schema schema_;
  std::vector<model::Stream> streams_;
  std::vector<model::Target> targets_;
  std::vector<std::uint16_t> groups_;
  model::Capture capture_;
  model::Context context_;
  model::QueueChanges queue_changes_;
  std::optional<model::ClockPair> clock_;
  metrics::JourneyMetrics figures_;
  std::optional<journeys::Topology> topology_;
  std::shared_ptr<links::Resolver> links_;
  std::optional<metrics::SlowPackets> slow_packets_;
  std::optional<pipeline::ObserverList> observers_;
  std::optional<journeys::LiveRebuilder> rebuilder_;
  model::EventBatch events_;
  std::uint64_t late_ = 0;        // late events of earlier rebuilders
  std::uint64_t unreadable_ = 0;  // blocks
  bool has_news_ = true;
};

}  // namespace sojourn::capture
