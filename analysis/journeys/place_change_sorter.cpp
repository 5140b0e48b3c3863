#include "analysis/journeys/place_change_sorter.h"

#include <algorithm>
#include <span>

namespace sojourn::journeys {

void PlaceChangeSorter::hold(const Change& change) {
  held_.push_back(change);
  if (held_.size() >= look_at_) release_due();
}

void PlaceChangeSorter::sort() {
  if (!std::ranges::is_sorted(held_, {}, &Change::ts_ns))
    std::ranges::stable_sort(held_, {}, &Change::ts_ns);
}

// The next look comes after twice as many changes as are still held, so that each change is sorted
// and moved a few times at most.
void PlaceChangeSorter::release_due() {
  sort();
  const auto newest_ns = held_.back().ts_ns;
  const auto due_ns = newest_ns - std::min(newest_ns, late_ns_);
  const auto due = std::ranges::lower_bound(held_, due_ns, {}, &Change::ts_ns) - held_.begin();
  release_first(static_cast<std::size_t>(due));
  if (held_.size() > kMaxHeld / 2) release_first(held_.size() - kMaxHeld / 2);
  look_at_ = std::max(kFirstLook, 2 * held_.size());
}

void PlaceChangeSorter::release_all() {
  sort();
  release_first(held_.size());
  look_at_ = kFirstLook;
}

void PlaceChangeSorter::release_first(std::size_t count) {
  for (const auto& change : std::span(held_).first(count))
    if (change.kind == Kind::kEnters)
      observer_.on_enter(change.place, change.ts_ns);
    else
      observer_.on_leave(change.place, change.entered_ns, change.ts_ns,
                         change.kind == Kind::kLeaves);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace sojourn::journeys
