// Reports to an observer, in the order of time, which units enter and leave places. Most changes
// become known at their time and are reported at once. An event that waits for its parent
// (LateEvents) and goes on without it is reported after others of later stamps. So while an event
// waits, changes are held until no earlier one can come. Changes of one stamp are reported in the
// order in which they became known. One thread owns a PlaceChangeSorter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/journey.h"

namespace sojourn::journeys {

class PlaceChangeSorter {
 public:
  // The observer must outlive this. No change becomes known more than `late_ns` after others of
  // later stamps.
  PlaceChangeSorter(Observer& observer, std::uint64_t late_ns)
      : observer_(observer), late_ns_(late_ns), is_wanted_(observer.wants_order()) {}

  // An event begins to wait. Changes are held until as many waits have ended as have begun.
  void begin_wait() {
    if (is_wanted_)
      ++waits_;
    else
      observer_.on_wait(true);
  }
  void end_wait() {
    if (!is_wanted_)
      observer_.on_wait(false);
    else if (--waits_ == 0)
      release_all();
  }

  void enter(std::uint16_t place, std::uint64_t ts_ns) {
    if (waits_ == 0) [[likely]]
      observer_.on_enter(place, ts_ns);
    else
      hold({ts_ns, 0, place, Kind::kEnters});
  }
  void leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns, bool seen) {
    if (waits_ == 0) [[likely]]
      observer_.on_leave(place, entered_ns, ts_ns, seen);
    else
      hold({ts_ns, entered_ns, place, seen ? Kind::kLeaves : Kind::kIsGivenUp});
  }

 private:
  enum class Kind : std::uint8_t { kEnters, kLeaves, kIsGivenUp };
  struct Change {
    std::uint64_t ts_ns = 0;
    std::uint64_t entered_ns = 0;  // of a unit that leaves
    std::uint16_t place = 0;
    Kind kind = Kind::kEnters;
  };

  // The number of held changes from which on those that are due are searched for.
  static constexpr std::size_t kFirstLook = 256;
  // More are not held, also where all changes of a hostile file have one stamp.
  static constexpr std::size_t kMaxHeld = 65'536;

  void hold(const Change& change);
  void release_due();
  void release_all();
  void sort();
  void release_first(std::size_t count);

  Observer& observer_;
  std::uint64_t late_ns_;
  bool is_wanted_;
  std::size_t waits_ = 0;
  std::size_t look_at_ = kFirstLook;
  std::vector<Change> held_;
};

}  // namespace sojourn::journeys
