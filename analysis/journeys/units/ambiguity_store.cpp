#include "analysis/journeys/units/ambiguity_store.h"

#include <utility>

#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

void AmbiguityStore::contest(Unit& unit) {
  unit.set(kContested);
  has_contested_ = true;
}

void AmbiguityStore::note(Unit& unit, const Doubt& doubt) {
  unit.set(kAmbiguous);
  unit.set(kHasExtra);
  Kept kept{.reasons = doubt.reasons, .more_fit = false, .alternatives = {}, .values = {}};
  if ((doubt.reasons & kOthersFit) != 0) {
    kept.more_fit = doubt.more_fit;
    std::size_t count = 0;
    for (const auto* other : doubt.alternatives) count += topology_.points[other->point].values;
    kept.values.reserve(count);  // alternatives have spans of it, so it must not move
    for (auto* const other : doubt.alternatives) {
      contest(*other);
      const auto width = topology_.points[other->point].values;
      const auto* const begin = kept.values.data() + kept.values.size();
      kept.values.insert(kept.values.end(), other->values, other->values + width);
      kept.alternatives.push_back({.ts_ns = other->ts_ns,
                                   .seq = other->seq,
                                   .tid = other->tid,
                                   .stream = other->stream,
                                   .point = other->point,
                                   .values = {begin, width}});
    }
  }
  kept_.insert_or_assign(&unit, std::move(kept));
}

void AmbiguityStore::add(const Unit& unit, std::uint32_t step) {
  if (!unit.is(kAmbiguous)) return;
  const auto& kept = kept_.at(&unit);
  described_.push_back({step, kept.reasons, kept.more_fit, kept.alternatives});
}

}  // namespace sojourn::journeys
