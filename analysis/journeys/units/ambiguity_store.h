// Keeps why a unit is ambiguous and which units its alternatives were, until its journey is
// reported. Few units are kAmbiguous, so this lies beside the units and is looked up for those
// only. An alternative is copied, because it may be gone when the journey ends. One thread owns it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/ambiguity.h"
#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

struct Unit;

// Why the parent of a unit may be another one.
struct Doubt {
  std::uint8_t reasons = 0;                  // of AmbiguityReason
  std::span<Unit* const> alternatives = {};  // if kOthersFit: the nearest ones
  bool more_fit = false;                     // than the alternatives
};

class AmbiguityStore {
 public:
  explicit AmbiguityStore(const Topology& topology) : topology_(topology) {}

  // The unit is ambiguous, and its alternatives are contested from now on.
  void note(Unit& unit, const Doubt& doubt);
  // Another unit was taken as a parent where this one fitted as well.
  void contest(Unit& unit);
  bool has_contested() const { return has_contested_; }
  // The unit's memory is given back.
  void forget(const Unit& unit) { kept_.erase(&unit); }

  // Returns the ambiguities of a journey whose steps are these units. Valid until the next call.
  template <typename Units>
  std::span<const Ambiguity> describe(const Units& steps) {
    described_.clear();
    std::uint32_t step = 0;
    for (const Unit* unit : steps) add(*unit, step++);
    return described_;
  }

 private:
  struct Kept {
    std::uint8_t reasons = 0;
    bool more_fit = false;
    std::vector<Alternative> alternatives;
    std::vector<std::uint64_t> values;  // of all alternatives
  };

  void add(const Unit& unit, std::uint32_t step);

  const Topology& topology_;
  bool has_contested_ = false;
  std::unordered_map<const Unit*, Kept> kept_;
  std::vector<Ambiguity> described_;
};

}  // namespace sojourn::journeys
