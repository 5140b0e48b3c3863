// Reports points that are hit so often that it costs the target much, or never: HitWatch finds
// them. The capture's thread owns it; what it refers to outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/capture/hit_watch.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/processes/point_switches.h"
#include "userspace/capture/processes/process_recorder.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/event_pump.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class HitMonitor final : public Ticker {
 public:
  HitMonitor(const Options& options, TracedProcesses& processes, const ProcessRecorder& recorder,
             const CaptureRecord& record, const CaptureOutput& output, EventPump& pump,
             const PointSwitches& switches);

  Result<void> tick(const Listener& listener) override;

  // Names of points that were on and never hit. Points that are not recorded are reported
  // elsewhere.
  Result<std::vector<std::string>> never_hit();
  // Points that are switched off, and were never hit. One that was switched off meanwhile counts as
  // well: its hits are not known from then on.
  Result<std::vector<model::PointId>> never_on();

 private:
  std::vector<WatchedPoint> watched_points() const;
  std::vector<model::PointId> without_switched(std::vector<model::PointId> points) const;
  std::vector<std::string> names(const std::vector<model::PointId>& points) const;
  void tell_hot(const std::vector<HitWatch::Hot>& hot, const Listener& listener);
  void tell_silent(const HitWatch::News& news, const Listener& listener) const;
  bool is_any_uncovered() const { return recorder_->coverage().uncovered_points != 0; }

  const Options* options_;
  TracedProcesses* processes_;
  const ProcessRecorder* recorder_;
  const CaptureRecord* record_;
  const CaptureOutput* output_;
  EventPump* pump_;
  const PointSwitches* switches_;
  std::optional<HitWatch> watch_;  // once the capture is open
  std::uint64_t next_look_ns_ = 0;
  std::size_t hot_told_ = 0;
};

}  // namespace sojourn::capture
