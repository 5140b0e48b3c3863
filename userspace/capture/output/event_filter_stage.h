// --where of a capture, in the collector: events that the engines could not leave out by themselves
// are left out here, before the sink. A filtered event is no loss: it is counted by stream and
// point, and the sequence numbers of the events behind it close up, so that a gap still means a
// loss. An event that lacks a field of the expression is kept. The capture's thread owns an
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
  // Names were checked with all points of the target: some of them may have been left out.
  static Result<EventFilterStage> create(filter::Expression expression,
                                         const model::Schema& schema);

  void add_stream(const model::Stream& stream);
  // A thread counts as called so from then on.
  void add_thread(std::uint32_t tid, const std::string& name);
  // More points, and the instant that `time` counts from.
  void adapt(const model::Schema& schema, std::uint64_t origin_ns);

  // Leaves in the batch what is kept. A stream's events come in the order of their numbers.
  void apply(model::EventBatch& batch);

  std::uint64_t filtered() const { return filtered_; }
  void add_filtered(model::Ledger& ledger) const;
  // Next sequence numbers, by stream, close up as the events' own.
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
  bool has_news_ = false;  // of threads: the filter does not know them yet
  std::vector<std::uint32_t> rows_;
  // What was left out, by stream: in all, and by point.
  std::vector<std::uint64_t> left_out_;
  std::vector<std::vector<std::uint64_t>> by_point_;
  std::uint64_t filtered_ = 0;
};

}  // namespace sojourn::capture
