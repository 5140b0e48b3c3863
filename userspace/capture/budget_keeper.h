// Keeps a running capture to its budget: Budget decides which points are off for a while, and this
// switches them and informs the listener. It does nothing in captures without a budget. The
// capture's thread owns it; the objects that it refers to must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/capture/budget.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/processes/process_recorder.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/event_pump.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class BudgetKeeper final : public Ticker, public ProcessObserver {
 public:
  BudgetKeeper(const Options& options, TracedProcesses& processes, const ProcessRecorder& recorder,
               SourceSet& sources, CaptureRecord& record, CaptureOutput& output, EventPump& pump);

  // Fails if a budget was asked for and the cost of a hit is not known. A default budget is dropped
  // then.
  Result<void> start();
  Result<void> tick(const Listener& listener) override;
  void on_new_points(const Listener& listener) override;

 private:
  bool is_needed() const;
  std::vector<BudgetPoint> budget_points() const;
  Result<void> switch_points(const std::vector<model::PointId>& points, bool on);
  std::string words(const std::vector<model::PointId>& points) const;
  std::string limit_words(double allowed) const;

  const Options* options_;
  TracedProcesses* processes_;
  const ProcessRecorder* recorder_;
  SourceSet* sources_;
  CaptureRecord* record_;
  CaptureOutput* output_;
  EventPump* pump_;
  std::optional<Budget> budget_;
  std::uint64_t next_look_ns_ = 0;
  bool has_said_no_costs_ = false;
  bool has_said_how_ = false;  // to have none
};

}  // namespace sojourn::capture
