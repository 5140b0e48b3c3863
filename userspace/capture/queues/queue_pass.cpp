#include "userspace/capture/queues/queue_pass.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <sojourn/ring_abi.h>

#include "userspace/base/clock.h"
#include "userspace/capture/records/shared.h"

namespace sojourn::capture {

namespace {

// A queue that changes during each attempt is sampled all the same, with its out bounded by the
// reads.
constexpr int kTries = 4;

// Queues that moved are read in groups between two stamps: a stamp costs as much as a few reads.
constexpr std::size_t kGroup = 8;

// Reads the clock after all earlier loads; later loads must not be moved before it.
std::uint64_t stamp_ns() {
  const std::uint64_t now_ns = base::monotonic_ns();
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  return now_ns;
}

// Reads out, in, and out again: equal outs make it exact for the moment of the in. Nothing if the
// slot belongs to another queue by now: the id is cleared before the counters are, so one check
// afterwards is enough.
std::optional<model::QueueSample> read_sample(const sj_queue& slot, std::uint64_t id) {
  model::QueueSample sample;
  std::uint64_t out = load_acquire(slot.out);
  for (int tries = 0; tries < kTries; ++tries) {
    sample.out = out;
    sample.in = load_acquire(slot.in);
    out = load_acquire(slot.out);
    if (out == sample.out) break;
  }
  sample.slack = out - sample.out;
  if (load_acquire(slot.id) != id) return std::nullopt;
  return sample;
}

}  // namespace

void QueuePass::record_as(std::uint32_t stream, model::PointId point) {
  stream_ = stream;
  point_ = point;
}

void QueuePass::add(const sj_queue& slot, std::uint64_t id, std::uint64_t recorded_as) {
  watched_.push_back({.slot = &slot, .id = id, .recorded_as = recorded_as});
}

void QueuePass::remove(const sj_queue& slot) {
  const auto found = std::ranges::find(watched_, &slot, &Watched::slot);
  if (found == watched_.end()) return;
  const auto index = static_cast<std::uint32_t>(found - watched_.begin());
  take({&index, 1});
  ended_.push_back({found->recorded_as, found->looks + found->same, found->unsettled});
  *found = watched_.back();
  watched_.pop_back();
}

std::uint32_t QueuePass::look(std::uint32_t ticks) {
  const std::uint64_t now_ns = stamp_ns();
  std::uint32_t next = adaptive_ ? kMaxRest : 1;
  moved_.clear();
  for (std::uint32_t index = 0; index < watched_.size(); ++index) {
    Watched& queue = watched_[index];
    if (adaptive_ && queue.due > ticks) {
      queue.due -= ticks;
      next = std::min(next, queue.due);
      continue;
    }
    if (load_relaxed(queue.slot->in) == queue.in && load_relaxed(queue.slot->out) == queue.out &&
        queue.has_row) {
      queue.seen_ns = now_ns;
      ++queue.same;
      queue.rest = std::min(queue.rest * 2, kMaxRest);
    } else {
      moved_.push_back(index);
      queue.rest = 1;
    }
    queue.due = queue.rest;
    next = std::min(next, queue.due);
  }
  take(moved_);
  return next;
}

void QueuePass::look_at_all() {
  moved_.resize(watched_.size());
  for (std::uint32_t index = 0; index < moved_.size(); ++index) moved_[index] = index;
  take(moved_);
}

void QueuePass::take(std::span<const std::uint32_t> which) {
  std::array<std::optional<model::QueueSample>, kGroup> samples;
  while (!which.empty()) {
    const auto group = which.first(std::min(which.size(), kGroup));
    which = which.subspan(group.size());
    const std::uint64_t from_ns = stamp_ns();
    for (std::size_t i = 0; i < group.size(); ++i)
      samples[i] = read_sample(*watched_[group[i]].slot, watched_[group[i]].id);
    const std::uint64_t to_ns = stamp_ns();
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (samples[i])
        record(watched_[group[i]], *samples[i], from_ns, to_ns);
      else
        met_stranger_ = true;
    }
  }
}

void QueuePass::record(Watched& queue, model::QueueSample sample, std::uint64_t from_ns,
                       std::uint64_t to_ns) {
  const bool is_same =
      queue.has_row && sample.in == queue.in && sample.out == queue.out && sample.slack == 0;
  if (const std::uint64_t close_ns = *close_ns_; to_ns >= close_ns) {
    // A queue that rested until now also rested just before the close. When another one moved is
    // not known.
    if (!is_same || close_ns <= queue.seen_ns) return;
    from_ns = to_ns = close_ns - 1;
  }
  sample.queue = queue.recorded_as;
  sample.span_ns = to_ns - from_ns;
  sample.gap_ns = is_same || !queue.has_row ? 0 : from_ns - queue.seen_ns;
  sample.same = queue.same;
  const auto values = sample.values();
  rows_.ts_ns.push_back(from_ns);
  rows_.seq.push_back(next_seq_++);
  rows_.stream.push_back(stream_);
  rows_.tid.push_back(0);
  rows_.point.push_back(point_);
  rows_.values.insert(rows_.values.end(), values.begin(), values.end());
  rows_.first_value.push_back(static_cast<std::uint32_t>(rows_.values.size()));

  queue.in = sample.in;
  queue.out = sample.out;
  queue.seen_ns = from_ns;
  queue.looks += queue.same + 1;
  queue.unsettled += sample.slack != 0 ? 1 : 0;
  queue.same = 0;
  queue.has_row = true;
}

model::EventColumns QueuePass::take_rows(model::EventColumns empty) {
  return std::exchange(rows_, std::move(empty));
}

bool QueuePass::found_reused_slot() {
  return std::exchange(met_stranger_, false);
}

std::uint64_t QueuePass::looks() const {
  std::uint64_t looks = 0;
  for (const Watched& queue : watched_) looks += queue.looks + queue.same;
  for (const model::QueueLooks& queue : ended_) looks += queue.looks;
  return looks;
}

std::vector<model::QueueLooks> QueuePass::looks_by_queue() const {
  std::vector<model::QueueLooks> all = ended_;
  for (const Watched& queue : watched_)
    all.push_back({queue.recorded_as, queue.looks + queue.same, queue.unsettled});
  return all;
}

}  // namespace sojourn::capture
