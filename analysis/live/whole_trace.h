// A trace that is complete, played to its end in one go: every event in time order, as all commands
// read it. One thread owns a WholeTrace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/live/interval_player.h"
#include "analysis/live/live_trace.h"
#include "analysis/trace/reader.h"

namespace sojourn::live {

class WholeTrace final : public LiveTrace {
 public:
  WholeTrace(trace::Reader reader, LiveOptions options)
      : reader_(std::move(reader)), options_(std::move(options)) {}

  Result<bool> poll(const Tick& tick) override;
  bool has_ended() const override { return has_ended_; }
  // Plays it again.
  Result<void> choose(Choice choice) override;
  Snapshot snapshot() const override;

 private:
  causes::TraceMetadata metadata() const;
  Result<void> prepare();
  Result<std::unique_ptr<LiveRebuild>> new_rebuild(const Choice& choice) const;

  trace::Reader reader_;
  LiveOptions options_;
  LiveScript script_;  // outlives the rebuild
  Choice choice_;
  std::unique_ptr<LiveRebuild> rebuild_;
  std::optional<IntervalPlayer> player_;
  bool has_ended_ = false;
};

}  // namespace sojourn::live
