// Who enters and leaves a place, told by several who each know some of the units: depths need it in
// the order in which one who knows all of them would tell it. First in that in which it became
// known, then, as that one does, in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "analysis/journeys/place_change_sorter.h"
#include "analysis/report/summary.h"

namespace sojourn::report {

struct PlaceChange {
  enum class Kind : std::uint8_t { kEnters, kLeaves, kIsGivenUp };

  std::uint64_t position = 0;  // of the rebuilder, at which it became known
  std::uint64_t ts_ns = 0;
  std::uint64_t entered_ns = 0;  // where it leaves
  std::uint16_t place = 0;
  Kind kind = Kind::kEnters;
};
using PlaceChanges = std::vector<PlaceChange>;

// A summary of some units: it knows everything about them but how many are in a place at once. One
// thread owns it.
class PartialSummary : public Summary {
 public:
  using Summary::Summary;

  bool wants_order() const override { return false; }  // all of them together are put in order
  // Rebuilder::turn() of who tells it.
  void set_position(const std::uint64_t& position) { position_ = &position; }
  PlaceChanges& changes() { return changes_; }

  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    changes_.push_back({*position_, ts_ns, 0, place, PlaceChange::Kind::kEnters});
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    const auto kind = seen ? PlaceChange::Kind::kLeaves : PlaceChange::Kind::kIsGivenUp;
    changes_.push_back({*position_, ts_ns, entered_ns, place, kind});
  }

 private:
  const std::uint64_t* position_ = nullptr;
  PlaceChanges changes_;
};

inline void replay(const PlaceChange& change, journeys::PlaceChangeSorter& places) {
  if (change.kind == PlaceChange::Kind::kEnters)
    places.enter(change.place, change.ts_ns);
  else
    places.leave(change.place, change.entered_ns, change.ts_ns,
                 change.kind == PlaceChange::Kind::kLeaves);
}

// What became known at the same turn is told in the order of who tells it.
inline void replay_in_order(std::vector<std::span<const PlaceChange>> of_each,
                            journeys::PlaceChangeSorter& places) {
  constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
  for (;;) {
    auto next = kNone;
    std::size_t who = 0;
    for (std::size_t each = 0; each < of_each.size(); ++each)
      if (!of_each[each].empty() && of_each[each].front().position < next) {
        next = of_each[each].front().position;
        who = each;
      }
    if (next == kNone) return;
    auto& changes = of_each[who];
    std::size_t told = 0;
    while (told < changes.size() && changes[told].position == next) replay(changes[told++], places);
    changes = changes.subspan(told);
  }
}

}  // namespace sojourn::report
