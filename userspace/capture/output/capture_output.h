// The output that all sources of a capture share: the sink, the numbers of streams, the names of
// threads, and the schema, which grows while the capture runs. The capture's thread owns a
// CaptureOutput; a source's own thread may push events to the sink, and do nothing else here.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "analysis/model/schema.h"
#include "userspace/capture/output/event_filter_stage.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/output/thread_names.h"

namespace sojourn::capture {

class CaptureOutput {
 public:
  // The trace has the schema already.
  CaptureOutput(Sink& sink, model::Schema schema) : sink_(&sink), schema_(std::move(schema)) {}

  Sink& sink() { return *sink_; }
  const model::Schema& schema() const { return schema_; }

  // Pushes events of the target to the sink, except those that the capture leaves out. On the
  // capture's thread.
  void push(model::EventBatch batch);
  // Sets the filter for events to leave out. Once, before any source is connected.
  void leave_out_by(EventFilterStage filter_stage) { filter_stage_ = std::move(filter_stage); }
  void begin(std::uint64_t open_ns);  // the instant that times count from
  const std::optional<EventFilterStage>& filter_stage() const { return filter_stage_; }

  // Gives the stream its number, and writes it to the trace.
  std::uint32_t new_stream(model::Stream stream);

  // The id of an equal point, or of a new one. Events may carry it once announce_points() was
  // called. Fails if the schema has no room.
  Result<model::PointId> add_point(const model::Point& point);
  void announce_points();

  ThreadNames& thread_names() { return thread_names_; }

 private:
  Sink* sink_;
  model::Schema schema_;
  std::optional<EventFilterStage> filter_stage_;
  ThreadNames thread_names_;
  std::uint64_t known_names_ = 0;  // ThreadNames::changes() that the filter_stage knows of
  std::uint64_t open_ns_ = 0;
  std::uint32_t next_stream_ = 0;
  bool has_news_ = false;
};

}  // namespace sojourn::capture
