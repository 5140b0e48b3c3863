// What an event is found to be to the units before it. Used again for each event: no allocation in
// the steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/ambiguity.h"
#include "analysis/journeys/store.h"

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
  Relation relation = Relation::kNothing;
  std::vector<Unit*> parents;
  Unit* repeat_of = nullptr;
  const Unit* latest = nullptr;    // of its process, where nothing else says which unit it is
  const Unit* done = nullptr;      // of its process, whose reception had ended: this is another one
  const Unit* stranger = nullptr;  // a piece that was left out, as it came from nowhere or they did
  std::vector<Unit*> copies;       // nobody took them: all their bytes had come already
  std::uint8_t doubts = 0;         // of Doubt
  bool more_fit = false;           // than the alternatives
  std::vector<Unit*> alternatives;  // where kOthersFit: the nearest ones
  bool has_bytes = false;
  Interval bytes;                    // of the parent
  bool all_left = false;             // with this piece, the parent's last bytes left
  bool missing = false;              // the parents do not make up the whole
  const TableUse* rivals = nullptr;  // others had the parent's key, which one at a time has
  bool takes_back = false;           // the parent is one of those itself
  // Were there several senders, it might be another one's (Senders).
  bool unsure = false;

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
    copies.clear();
    relation = Relation::kNothing;
    repeat_of = nullptr;
    latest = done = stranger = nullptr;
    doubts = 0;
    rivals = nullptr;
    has_bytes = all_left = missing = takes_back = unsure = false;
  }
};

}  // namespace sojourn::journeys
