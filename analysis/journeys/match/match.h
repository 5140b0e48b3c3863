// The result of matching an event to the units before it. It is reused for each event, so nothing
// is allocated in the steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/ambiguity.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

// The most alternatives that are named.
inline constexpr std::size_t kMaxAlternatives = 8;

enum class Relation : std::uint8_t {
  kNothing,  // no unit fits
  kTakes,    // the parents waited, and leave now
  kPiece,    // a segment of the parent, of bytes that did not leave before
  kBranch,   // another part of a parent that left before
  kRepeat,   // a repeat of `repeat_of`
  kEnds,     // the drop or the acknowledgement of a parent that left before
};

struct Match {
  std::vector<Unit*> parents;
  Unit* repeat_of = nullptr;
  // The latest unit of its HARQ process, where only the process identifies the unit.
  const Unit* latest = nullptr;
  // The latest unit of its HARQ process, where that reception had ended, so that this is another.
  const Unit* done = nullptr;
  // A segment that was left out: its beginning was not seen, or only its beginning was.
  const Unit* stranger = nullptr;
  std::vector<Unit*> copies;        // segments left out, as all their bytes had come already
  std::vector<Unit*> alternatives;  // if kOthersFit: the nearest ones
  // The key of the parent, if other units had it although only one may have it at a time.
  const TableUse* rivals = nullptr;
  Interval bytes;  // if has_bytes: of the parent
  Relation relation = Relation::kNothing;
  std::uint8_t doubts = 0;  // of AmbiguityReason
  bool more_fit = false;    // more units fit than the alternatives
  bool has_bytes = false;
  bool all_left = false;    // with this segment, the last bytes of the parent left
  bool missing = false;     // the parents do not make the unit whole
  bool takes_back = false;  // the parent had been evicted
  bool unsure = false;      // it may be of another sender, if there are several (MixedSenders)

  // Returns whether the unit is simply the next step or a part of its parents.
  // EventCorrelatorImpl::connect_otherwise handles the other cases.
  bool is_plain() const {
    const bool follows = relation != Relation::kNothing && relation != Relation::kRepeat;
    return follows && doubts == 0 && !missing && !unsure && repeat_of == nullptr &&
           rivals == nullptr && copies.empty();
  }

  // Notes the units that fitted as well.
  template <typename Units>
  void note_others(Units&& nearest_first) {
    alternatives.clear();
    more_fit = false;
    for (Unit* const unit : nearest_first) {
      doubts |= kOthersFit;
      more_fit = alternatives.size() == kMaxAlternatives;
      if (more_fit) return;
      alternatives.push_back(unit);
    }
  }

  void clear() {
    parents.clear();
    if (!copies.empty()) [[unlikely]]
      copies.clear();
    repeat_of = nullptr;
    latest = done = stranger = nullptr;
    rivals = nullptr;
    relation = Relation::kNothing;
    doubts = 0;
    more_fit = has_bytes = all_left = missing = takes_back = unsure = false;
  }
};

}  // namespace sojourn::journeys
