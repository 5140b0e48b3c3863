#include "userspace/capture/output/outlet.h"

#include <algorithm>

namespace sojourn::capture {

std::uint32_t Outlet::new_stream(model::Stream stream) {
  stream.id = next_stream_++;
  if (sieve_) sieve_->add_stream(stream);
  sink_->push(stream);
  return stream.id;
}

Result<model::PointId> Outlet::add_point(const model::Point& point) {
  const auto known = std::ranges::find(schema_.points, point);
  const auto id = static_cast<std::size_t>(known - schema_.points.begin());
  if (known == schema_.points.end()) {
    if (id == model::kMaxPoints) return fail("more than {} points", model::kMaxPoints);
    schema_.points.push_back(point);
    has_news_ = true;
  }
  return static_cast<model::PointId>(id);
}

void Outlet::announce_points() {
  if (!std::exchange(has_news_, false)) return;
  sink_->push(schema_);
  if (sieve_) sieve_->adapt(schema_, open_ns_);
}

void Outlet::push(model::EventBatch batch) {
  if (sieve_ && std::exchange(names_told_, thread_names_.changes()) != thread_names_.changes())
    for (const auto& [tid, name] : thread_names_.known()) sieve_->add_thread(tid, name);
  if (sieve_) sieve_->apply(batch);
  if (!batch.empty()) sink_->push(std::move(batch));
}

void Outlet::begin(std::uint64_t open_ns) {
  open_ns_ = open_ns;
  if (sieve_) sieve_->adapt(schema_, open_ns);
}

}  // namespace sojourn::capture
