#include "analysis/journeys/ambiguity_store.h"

#include <utility>

#include "analysis/journeys/matcher.h"
#include "analysis/journeys/unit_store.h"

namespace sojourn::journeys {

void AmbiguityStore::contest(Unit& unit) {
  unit.set(kContested);
  has_contested_ = true;
}

void AmbiguityStore::note(Unit& unit, const Match& match) {
  unit.set(kAmbiguous);
  unit.set(kHasExtra);
  Kept kept{.doubts = match.doubts, .more_fit = false, .alternatives = {}, .values = {}};
  if ((match.doubts & kOthersFit) != 0) {
    kept.more_fit = match.more_fit;
    std::size_t count = 0;
    for (const auto* other : match.alternatives) count += topology_.points[other->point].values;
    kept.values.reserve(count);  // alternatives hold spans into it
    for (auto* const other : match.alternatives) {
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
  described_.push_back({step, kept.doubts, kept.more_fit, kept.alternatives});
}

void AmbiguityStore::finish(Journey& out) const {
  out.ambiguous = !described_.empty();
  out.ambiguities = described_;
  for (const auto& one : described_)
    out.alternatives += static_cast<std::uint32_t>(one.alternatives.size());
}

}  // namespace sojourn::journeys
