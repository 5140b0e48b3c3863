// Events that wait a little for a parent. The clocks of two threads may differ, so a parent may be
// stamped after its child. The callbacks that take an event return whether it found a parent.
// Events are kept in the order in which they came. One thread owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class LateEvents {
 public:
  explicit LateEvents(const Topology& topology) : topology_(topology) {}

  bool empty() const { return waiting_.empty(); }
  // The stamp of the oldest event. It is 0 if too many events wait (for example because a clock
  // gives all of them one stamp), so that the wait of the oldest is over.
  std::uint64_t oldest_ns() const {
    return waiting_.size() > kMaxWaiting ? 0 : waiting_.front().event.ts_ns;
  }

  void add(const model::EventView& event) {
    waiting_.push_back({event, {event.values.begin(), event.values.end()}});
  }

  // Returns whether an event of the same thread waits that may be the parent of this one. Then this
  // one has to wait too. Otherwise another unit would be taken as its parent only because its own
  // has not come yet.
  bool has_parent_of(const model::EventView& event) const {
    return has_parent_of(event, waiting_.size());
  }

  // The wait of the oldest event is over. Calls `take(event)`.
  template <typename Take>
  void end_oldest(Take take) {
    const auto late = std::move(waiting_.front());
    waiting_.pop_front();
    take(late.view());
  }

  // An event cannot be the parent of an earlier event of its thread. If `event` might be taken for
  // such a parent, the wait of the earlier event ends, and before it that of its possible parents.
  // Imported traces do not know threads (0).
  template <typename Take>
  void end_before(const model::EventView& event, Take take) {
    if (event.tid == 0) return;
    for (std::size_t i = 0; i < waiting_.size();)
      if (waiting_[i].event.tid == event.tid && may_feed(event, waiting_[i].view()))
        i = end(i, take);
      else
        ++i;
  }

  // A unit of this point came. Events that waited for it are tried again, and then those that
  // waited for these. `take(event)` returns whether the event found its parent.
  template <typename Take>
  void try_again(PointId came, Take take) {
    int tries = 0;
    std::size_t looks = 0;
    came_.assign(1, came);
    // They are tried in the order in which they came, since they may compete for parents. They are
    // tried again after a success, since one may have come before its parent.
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < waiting_.size();) {
        const auto& late = waiting_[i];
        const auto feeds_it = [&](PointId parent) { return feeds(parent, late.event.point); };
        if (std::ranges::none_of(came_, feeds_it)) {
          ++i;
          continue;
        }
        looks += i;
        if (looks > kMaxLooks) return;
        if (has_parent_of(late.view(), i)) {
          ++i;
          continue;
        }
        if (++tries > kMaxTries) return;
        if (!take(late.view())) {
          ++i;
          continue;
        }
        if (std::ranges::find(came_, late.event.point) == came_.end())
          came_.push_back(late.event.point);
        waiting_.erase(at(i));
        again = true;
      }
    }
  }

 private:
  static constexpr std::size_t kMaxWaiting = 1000;
  // Limits for each event.
  static constexpr int kMaxTries = 64;
  static constexpr std::size_t kMaxLooks = 10'000;

  struct Late {
    model::EventView event;  // without its values
    std::vector<std::uint64_t> values;

    model::EventView view() const {
      auto view = event;
      view.values = values;
      return view;
    }
  };

  // Returns the new index of the event after it.
  template <typename Take>
  std::size_t end(std::size_t index, Take take) {
    const auto ended = std::move(waiting_[index]);
    waiting_.erase(at(index));
    for (std::size_t i = 0; i < index;)
      if (waiting_[i].event.tid == ended.event.tid && may_feed(waiting_[i].view(), ended.view())) {
        const auto before = waiting_.size();
        i = end(i, take);
        index -= before - waiting_.size();
      } else {
        ++i;
      }
    take(ended.view());
    return index;
  }

  // Like has_parent_of() above, among the first `among` events.
  bool has_parent_of(const model::EventView& event, std::size_t among) const {
    for (std::size_t i = 0; i < among; ++i)
      if (waiting_[i].event.tid == event.tid && may_feed(waiting_[i].view(), event)) return true;
    return false;
  }

  std::deque<Late>::iterator at(std::size_t index) {
    return waiting_.begin() + static_cast<std::ptrdiff_t>(index);
  }

  bool may_feed(const model::EventView& parent, const model::EventView& child) const {
    for (const auto& lookup : topology_.points[child.point].lookups)
      for (const auto& insert : topology_.points[parent.point].inserts)
        if (lookup.table == insert.table && have_equal_ids(parent, insert, child, lookup))
          return true;
    return false;
  }

  static bool have_equal_ids(const model::EventView& parent, const TableUse& insert,
                             const model::EventView& child, const TableUse& lookup) {
    return std::ranges::equal(
        insert.fields, lookup.fields, {}, [&](std::uint8_t field) { return parent.values[field]; },
        [&](std::uint8_t field) { return child.values[field]; });
  }

  bool feeds(PointId parent, PointId child) const {
    return std::ranges::any_of(topology_.points[child].pairs, [&](std::uint32_t pair) {
      return topology_.pairs[pair].parent == parent;
    });
  }

  const Topology& topology_;
  std::deque<Late> waiting_;
  std::vector<PointId> came_;
};

}  // namespace sojourn::journeys
