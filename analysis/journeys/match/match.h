// What an event is found to be to the units before it. Used again for each event: no allocation in
// the steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/ambiguity.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

// Of units that fitted as well as the parent that was taken, so many are named.
inline constexpr std::size_t kMaxAlternatives = 8;

enum class Relation : std::uint8_t {
  kNothing,  // nothing fits
  kTakes,    // the parents waited and leave now
  kPiece,    // some bytes of the parent, not seen to leave before
  kBranch,   // the parent left before; this is another part of it
  kRepeat,   // of `repeat_of`
  kEnds,     // the parent left before; it is dropped or acknowledged now
};

struct Match {
  std::vector<Unit*> parents;
  Unit* repeat_of = nullptr;
  const Unit* latest = nullptr;    // of its process, where nothing else says which unit it is
  const Unit* done = nullptr;      // of its process, whose reception had ended: this is another one
  const Unit* stranger = nullptr;  // a piece that was left out, as it came from nowhere or they did
  std::vector<Unit*> copies;       // nobody took them: all their bytes had come already
  std::vector<Unit*> alternatives;   // where kOthersFit: the nearest ones
  const TableUse* rivals = nullptr;  // others had the parent's key, which one at a time has
  Interval bytes;                    // where has_bytes: of the parent
  Relation relation = Relation::kNothing;
  std::uint8_t doubts = 0;  // of Doubt
  bool more_fit = false;    // than the alternatives
  bool has_bytes = false;
  bool all_left = false;    // with this piece, the parent's last bytes left
  bool missing = false;     // the parents do not make up the whole
  bool takes_back = false;  // the parent is one of the rivals itself
  bool unsure = false;      // were there several senders, it might be another one's (Senders)

  // It is what its parents became, or a part of them, and no more is to be said of it
  // (EventCorrelatorImpl::connect_otherwise says what else there may be).
  bool is_plain() const {
    const bool follows = relation != Relation::kNothing && relation != Relation::kRepeat;
    return follows && doubts == 0 && !missing && !unsure && repeat_of == nullptr &&
           rivals == nullptr && copies.empty();
  }

  // Units that fitted as well.
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
