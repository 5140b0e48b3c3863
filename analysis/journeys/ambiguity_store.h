// What is told of the alternatives of units that are kAmbiguous: few are, so it lies beside them
// and is looked up for those only. What an alternative was is copied, as it may be gone by the time
// its neighbour's journey ends. One thread owns it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/ambiguity.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

struct Match;
struct Unit;

class AmbiguityStore {
 public:
  explicit AmbiguityStore(const Topology& topology) : topology_(topology) {}

  // Those alternatives that are still there are from now on contested.
  void note(Unit& unit, const Match& match);
  // Another one was taken where this one fitted as well.
  void contest(Unit& unit);
  bool has_contested() const { return has_contested_; }
  // The unit is given back.
  void forget(const Unit& unit) { kept_.erase(&unit); }

  // Says so in a journey whose steps are these units.
  template <typename Units>
  void tell(const Units& units, Journey& out) {
    described_.clear();
    std::uint32_t step = 0;
    for (const Unit* unit : units) add(*unit, step++);
    finish(out);
  }

 private:
  struct Kept {
    std::uint8_t doubts = 0;
    bool more_fit = false;
    std::vector<Alternative> alternatives;
    std::vector<std::uint64_t> values;  // of all of them
  };

  void add(const Unit& unit, std::uint32_t step);
  void finish(Journey& out) const;

  const Topology& topology_;
  bool has_contested_ = false;
  std::unordered_map<const Unit*, Kept> kept_;
  std::vector<Ambiguity> described_;
};

}  // namespace sojourn::journeys
