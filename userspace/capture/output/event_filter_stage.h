// --where of a capture, in the collector: leaves out the events that the engines could not leave
// out themselves, before the sink. A filtered event is no loss: it is counted by stream and point,
// and the sequence numbers of the events behind it close up, so that a gap still means a loss. An
// event that lacks a field of the expression is kept. The capture's thread owns an
// EventFilterStage.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/event_filter.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"

namespace sojourn::capture {

class EventFilterStage {
 public:
  // The names in the expression were checked against all points of the target, also those that are
  // not recorded.
  static Result<EventFilterStage> create(filter::Expression expression,
                                         const model::Schema& schema);

  void add_stream(const model::Stream& stream);
  // Sets a thread's name from then on.
  void add_thread(std::uint32_t tid, const std::string& name);
  // Takes a schema with more points, and the instant that `time` counts from.
  void adapt(const model::Schema& schema, std::uint64_t origin_ns);

  // Removes filtered events from the batch. A stream's events come in the order of their numbers.
  void apply(model::EventBatch& batch);

  std::uint64_t filtered() const { return filtered_; }
  void add_filtered(model::Ledger& ledger) const;
  // Corrects next sequence numbers, by stream, as those of the events are corrected.
  void close_up(std::vector<std::uint64_t>& next) const;

 private:
  EventFilterStage(filter::Expression expression, filter::EventFilter filter, model::Schema schema)
      : expression_(std::move(expression)),
        filter_(std::move(filter)),
        schema_(std::move(schema)) {}
  void compile();
  std::vector<std::uint64_t>& counts_of(std::uint32_t stream);

  filter::Expression expression_;
  filter::EventFilter filter_;
  model::Schema schema_;
  std::uint64_t origin_ns_ = 0;
  std::vector<model::Stream> streams_;
  filter::ThreadNames threads_;
  bool has_news_ = false;  // there are names of threads that the filter does not know yet
  std::vector<std::uint32_t> rows_;
  // Numbers of filtered events, by stream: in all, and by point.
  std::vector<std::uint64_t> left_out_;
  std::vector<std::vector<std::uint64_t>> by_point_;
  std::uint64_t filtered_ = 0;
};

}  // namespace sojourn::capture
