#include "userspace/capture/output/capture_output.h"

#include <algorithm>

namespace sojourn::capture {

std::uint32_t CaptureOutput::new_stream(model::Stream stream) {
  stream.id = next_stream_++;
  if (filter_stage_) filter_stage_->add_stream(stream);
  sink_->push(stream);
  return stream.id;
}

Result<model::PointId> CaptureOutput::add_point(const model::Point& point) {
  const auto known = std::ranges::find(schema_.points, point);
  const auto id = static_cast<std::size_t>(known - schema_.points.begin());
  if (known == schema_.points.end()) {
    if (id == model::kMaxPoints) return fail("more than {} points", model::kMaxPoints);
    schema_.points.push_back(point);
    has_news_ = true;
  }
  return static_cast<model::PointId>(id);
}

void CaptureOutput::announce_points() {
  if (!std::exchange(has_news_, false)) return;
  sink_->push(schema_);
  if (filter_stage_) filter_stage_->adapt(schema_, open_ns_);
}

void CaptureOutput::push(model::EventBatch batch) {
  if (filter_stage_ &&
      std::exchange(known_names_, thread_names_.changes()) != thread_names_.changes())
    for (const auto& [tid, name] : thread_names_.known()) filter_stage_->add_thread(tid, name);
  if (filter_stage_) filter_stage_->apply(batch);
  if (!batch.empty()) sink_->push(std::move(batch));
}

void CaptureOutput::begin(std::uint64_t open_ns) {
  open_ns_ = open_ns;
  if (filter_stage_) filter_stage_->adapt(schema_, open_ns);
}

}  // namespace sojourn::capture
