#include "analysis/report/tracing_cost.h"

#include <algorithm>
#include <utility>

namespace sojourn::report {

TracingCost::TracingCost(const model::Schema& schema, const model::Capture& capture) {
  std::vector<std::uint64_t> costs = capture.hit_cost_ps;
  costs.resize(schema.points.size());
  // A cost that was measured this badly is better shown than subtracted.
  for (std::size_t point = 0; point < std::min(costs.size(), capture.hit_spread_ps.size()); ++point)
    if (capture.hit_spread_ps[point] > costs[point] / 2) costs[point] = 0;
  if (std::ranges::none_of(costs, [](std::uint64_t ps) { return ps != 0; })) return;
  cost_ps_ = std::move(costs);
  const context::ContextPoints points(schema);
  if (points.on_switch.point) on_switch_ = points.on_switch;
}

TracingCost TracingCost::anew() const {
  TracingCost other;
  other.cost_ps_ = cost_ps_;
  other.on_switch_ = on_switch_;
  return other;
}

void TracingCost::add(Thread& thread, std::uint64_t ts_ns, std::uint64_t cost_ps) const {
  const bool has_paused = !thread.hits.empty() && !on_switch_ &&
                          ts_ns - std::min(ts_ns, thread.hits.back().ts_ns) > kPauseNs;
  const bool begins = thread.has_waited || has_paused || thread.hits.empty();
  const std::uint64_t busy_from_ns = begins ? ts_ns : thread.hits.back().busy_from_ns;
  thread.hits.push_back(
      {.ts_ns = ts_ns, .before_ps = thread.spent_ps, .busy_from_ns = busy_from_ns});
  thread.spent_ps += cost_ps;
  thread.has_waited = false;
}

// Forgets hits that are not needed from `now_ns` on. It drops half of them at a time, so that a hit
// is moved once on average.
void TracingCost::forget(Thread& thread, std::uint64_t now_ns) {
  auto& hits = thread.hits;
  const std::size_t before = thread.first;
  thread.first = hits.size() - std::min(hits.size() - thread.first, kMaxKept);
  while (thread.first < hits.size() && hits[thread.first].ts_ns + kKeptNs < now_ns) ++thread.first;
  thread.has_forgotten = thread.has_forgotten || thread.first != before;
  if (thread.first < hits.size() / 2) return;
  hits.erase(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(thread.first));
  thread.first = 0;
}

void TracingCost::consume(const model::EventBatch& events) {
  if (!is_known() || events.empty()) return;
  for (auto& [tid, thread] : threads_) forget(thread, events.ts_ns().front());
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::PointId point = events.point()[row];
    if (on_switch_ && point == *on_switch_->point) {
      const model::EventView event = events[row];
      if (on_switch_->is(event) && context::waits_in(on_switch_->value(event, 2)))
        note_wait(static_cast<std::uint32_t>(on_switch_->value(event, 0)));
    } else if (point < cost_ps_.size() && cost_ps_[point] != 0) {
      add(thread_of(events.tid()[row]), events.ts_ns()[row], cost_ps_[point]);
    }
  }
}

void TracingCost::note_wait(std::uint32_t tid) {
  if (const auto found = threads_.find(tid); found != threads_.end())
    found->second.has_waited = true;
}

// Threads keep their addresses.
TracingCost::Thread& TracingCost::thread_of(std::uint32_t tid) {
  if (last_ == nullptr || last_tid_ != tid) {
    last_ = &threads_[tid];
    last_tid_ = tid;
  }
  return *last_;
}

const TracingCost::Thread* TracingCost::find(std::uint32_t tid) const {
  const auto found = threads_.find(tid);
  return found == threads_.end() || found->second.hits.empty() ? nullptr : &found->second;
}

// Returns the first hit that is not before the instant. The search begins at the newest, where most
// instants are.
std::size_t TracingCost::first_from(const Thread& thread, std::uint64_t ts_ns) {
  const std::size_t end = thread.hits.size();
  std::size_t step = 1;
  std::size_t high = end;
  std::size_t low = thread.first;
  while (end - thread.first > step) {
    if (thread.hits[end - step].ts_ns < ts_ns) {
      low = end - step;
      break;
    }
    high = end - step;
    step *= 2;
  }
  const auto begin = thread.hits.begin();
  const auto found = std::lower_bound(
      begin + static_cast<std::ptrdiff_t>(low), begin + static_cast<std::ptrdiff_t>(high), ts_ns,
      [](const Hit& hit, std::uint64_t ns) { return hit.ts_ns < ns; });
  return static_cast<std::size_t>(found - begin);
}

// Returns the cost of the thread's hit at that instant, or 0.
std::uint64_t TracingCost::own_ps(std::uint32_t tid, std::uint64_t ts_ns) const {
  const Thread* const thread = find(tid);
  if (thread == nullptr) return 0;
  const std::size_t at = first_from(*thread, ts_ns);
  if (at == thread->hits.size() || thread->hits[at].ts_ns != ts_ns) return 0;
  const bool is_last = at + 1 == thread->hits.size();
  return (is_last ? thread->spent_ps : thread->hits[at + 1].before_ps) - thread->hits[at].before_ps;
}

std::uint64_t TracingCost::inside_ns(const Passage& passage) {
  const Thread* const thread = find(passage.left_by);
  if (thread == nullptr || passage.left_ns <= passage.entered_ns) return 0;
  const std::size_t last = first_from(*thread, passage.left_ns);
  if (last == thread->hits.size()) return 0;
  const Hit& left = thread->hits[last];
  const std::uint64_t from_ns = std::max(passage.entered_ns, left.busy_from_ns);
  if (thread->has_forgotten && from_ns < thread->hits[thread->first].ts_ns) ++forgotten_;
  const std::size_t first = std::min(first_from(*thread, from_ns), last);
  std::uint64_t ps = left.before_ps - thread->hits[first].before_ps;
  // The hit at which it entered: on the same thread it is among those unless the thread waited
  // since; where another thread waited for the unit, it delayed the hand-over.
  const bool is_same = passage.entered_by == passage.left_by;
  if (is_same ? left.busy_from_ns > passage.entered_ns : first == last)
    ps += own_ps(passage.entered_by, passage.entered_ns);
  return std::min((ps + 500) / 1000, passage.left_ns - passage.entered_ns);
}

}  // namespace sojourn::report
