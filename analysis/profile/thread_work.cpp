#include "analysis/profile/thread_work.h"

#include <utility>

namespace sojourn::profile {

ThreadWork::ThreadWork(const journeys::Topology& topology, Take take)
    : topology_(topology), take_(std::move(take)), passes_(topology.places.size()) {}

std::uint16_t ThreadWork::place_between(model::PointId before, model::PointId after) const {
  for (const std::uint32_t index : topology_.points[after].pairs) {
    const journeys::Pair& pair = topology_.pairs[index];
    if (pair.parent == before) return pair.place;
  }
  return kBetweenUnits;
}

void ThreadWork::give(Thread& thread, const ThreadLocation& at) {
  for (const auto& [key, amount] : thread.held) take_(at, key, amount);
  thread.held.clear();
}

void ThreadWork::on_event(const model::EventView& event) {
  if (event.point >= topology_.points.size() || !topology_.points[event.point].carries_units)
    return;
  Thread& thread = threads_[event.tid];
  ThreadLocation at = {.place = kBetweenUnits, .tid = event.tid};
  if (thread.last) at.place = place_between(*thread.last, event.point);
  if (at.place != kBetweenUnits) {
    ++passes_[at.place];
  } else {
    at.after = thread.last.value_or(model::kNoPoint);
    at.before = event.point;
  }
  if (!thread.held.empty()) give(thread, at);
  thread.last = event.point;
}

void ThreadWork::hold(std::uint32_t tid, std::uint64_t key, std::uint64_t weight) {
  threads_[tid].held[key].add({1, weight});
}

void ThreadWork::finish() {
  for (auto& [tid, thread] : threads_)
    give(thread, {.place = kBetweenUnits,
                  .tid = tid,
                  .after = thread.last.value_or(model::kNoPoint),
                  .before = model::kNoPoint});
}

}  // namespace sojourn::profile
