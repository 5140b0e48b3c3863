// Puts the events of one file in order of time, on their way into a trace. Recordings of other
// tracers are only roughly in order, since one thread gathers what many wrote. Events of the same
// time stay in the file's order. One thread owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "analysis/model/event.h"

namespace sojourn::trace {

// The number of events by which an event may be late and still be sorted. Readers accept any order,
// but take a sequence number that is ahead of its time for a sign of loss.
inline constexpr std::size_t kOrderWindow = 64 * 1024;

class EventSorter {
 public:
  std::size_t size() const { return events_.size(); }

  void add(const model::EventView& event) {
    disordered_ += size() != 0 && event.ts_ns < newest_;
    newest_ = std::max(newest_, event.ts_ns);
    events_.append(event);
  }

  // Takes the events before `end`, in order.
  model::EventBatch take_before(std::uint64_t end) {
    sort();
    const auto times = events_.ts_ns();
    return take(static_cast<std::size_t>(std::ranges::lower_bound(times, end) - times.begin()));
  }

  model::EventBatch take_first(std::size_t count) {
    sort();
    return take(count);
  }

  // The number of events that came after a later one.
  std::uint64_t disordered() const { return disordered_; }

 private:
  void sort() {
    const auto times = events_.ts_ns();
    if (std::ranges::is_sorted(times)) return;
    std::vector<std::uint32_t> order(events_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return times[row]; });
    model::EventBatch sorted;
    for (const std::uint32_t row : order) sorted.append(events_[row]);
    events_ = std::move(sorted);
  }

  model::EventBatch take(std::size_t count) {
    if (count == events_.size()) return std::exchange(events_, {});
    model::EventBatch taken;
    taken.append(events_, 0, count);
    model::EventBatch rest;
    rest.append(events_, count, events_.size() - count);
    events_ = std::move(rest);
    return taken;
  }

  model::EventBatch events_;
  std::uint64_t newest_ = 0;
  std::uint64_t disordered_ = 0;
};

}  // namespace sojourn::trace
