// A trace that is still being written. Events wait in their stored form until a later clock pair
// shows that all streams have delivered earlier events. Then they are put into time order and
// rebuilt. Events that come too late for that are counted and left out. Memory is that of a second
// or two of events, and of the LiveRebuild. If rebuilding exceeds its budget, only packets of some
// UEs or bearers are rebuilt, and the snapshot says so. One thread owns a GrowingTrace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/links/resolver.h"
#include "analysis/live/interval_player.h"
#include "analysis/live/live_trace.h"
#include "analysis/live/owner_sample.h"
#include "analysis/live/view_budget.h"
#include "analysis/trace/follower.h"

namespace sojourn::live {

class GrowingTrace final : public LiveTrace {
 public:
  GrowingTrace(std::unique_ptr<trace::ByteSource> source, LiveOptions options)
      : follower_(std::move(source)), options_(std::move(options)) {
    if (options_.processor_ns) budget_.emplace(options_.budget);
  }

  Result<bool> poll(const Tick& tick) override;
  Result<void> settle(const Tick& tick) override;
  bool has_ended() const override { return has_ended_; }
  Result<void> choose(Choice choice) override;
  Snapshot snapshot() const override;

  // Returns whether the capture has begun, so that its points are known.
  bool has_begun() const { return follower_.about().capture.open_ns != 0; }
  // Returns whether the end of the trace has come, or at least that of its capture.
  bool is_finished() const {
    return follower_.is_finished() || follower_.about().capture.close_ns != 0;
  }
  // Returns whether packets have ever been rebuilt: the points, a filter and a script fitted.
  bool has_figures() const { return player_.has_value(); }
  std::uint64_t events() const { return follower_.events(); }
  const std::string& name() const { return follower_.name(); }
  std::uint64_t late() const { return late_; }
  // The bytes of the source that were read as whole blocks.
  std::uint64_t whole_bytes() const { return follower_.offset(); }

 private:
  causes::TraceMetadata metadata() const;
  std::uint64_t origin_ns() const;
  const model::Schema& schema() const;
  Result<void> know_news();
  Result<void> begin_script();
  Result<void> end_script_of(std::string error);
  Result<void> begin_rebuild(std::vector<std::uint16_t> groups);
  Result<bool> advance(std::uint64_t watermark_ns, const Tick& tick);
  Result<void> end(const Tick& tick);
  std::uint64_t processor_ns() const { return options_.processor_ns ? options_.processor_ns() : 0; }
  bool is_sampling() const { return sample_ && !sample_->keeps_all(); }
  std::vector<std::uint64_t> first_seqs() const;
  void decode(const trace::StoredEvents& stored, model::EventBatch& events);
  void drop_carried();
  std::vector<model::EventBatch> sampled(std::vector<trace::StoredEvents>& due);
  void count_left_out(std::uint64_t watermark_ns);
  Result<void> keep_to_budget(std::uint64_t span_ns, std::uint64_t rebuild_ns);
  Result<void> sample(double share);
  journeys::Totals totals() const;

  trace::Follower follower_;
  LiveOptions options_;
  Choice choice_;
  std::vector<trace::StoredEvents> waiting_;
  std::size_t waiting_bytes_ = 0;
  model::EventBatch carried_;             // in time order, decoded: their time has not come
  std::vector<std::uint64_t> next_seqs_;  // by stream, behind all that was decoded
  std::uint64_t watermark_ns_ = 0;
  std::size_t clocks_ = 0;  // pairs that were looked at
  std::uint64_t first_ns_ = UINT64_MAX;
  std::uint64_t newest_ns_ = 0;
  std::uint64_t known_blocks_ = 0;  // of metadata
  std::size_t known_streams_ = 0;
  std::size_t known_points_ = 0;
  std::vector<std::uint16_t> groups_;
  std::optional<links::Resolver> links_;
  LiveScript script_;  // outlives the rebuild
  std::string script_error_;
  std::optional<ViewBudget> budget_;
  std::optional<OwnerSample> sample_;
  std::uint64_t sampled_from_ns_ = 0;      // what was before may be missing
  std::vector<std::uint64_t> not_played_;  // events that no rebuild knows any more, by point
  // Events of a block that the sample left out. They count when the block's time has come.
  struct LeftOut {
    std::uint64_t last_ns = 0;
    std::uint64_t events = 0;
  };
  std::vector<LeftOut> left_out_;
  std::uint64_t processor_at_ns_ = 0;  // at the last look
  std::unique_ptr<LiveRebuild> rebuild_;
  std::optional<IntervalPlayer> player_;
  std::uint64_t late_ = 0;
  std::uint64_t restarts_ = 0;
  bool has_ended_ = false;
};

}  // namespace sojourn::live
