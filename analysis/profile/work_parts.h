// Sampled work in parts: by hop, by thread, and by the two events between which a thread worked on
// no unit. Plain computations on sampled work.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/profile/hot_functions.h"
#include "analysis/profile/sampled_work.h"

namespace sojourn::profile {

// The largest part first.
template <typename Key>
using WorkParts = std::vector<std::pair<Key, SampleSum>>;

// A thread's event before a sample and the one after.
using EventPair = std::pair<model::PointId, model::PointId>;

// All work that passes the filter, by place.
WorkParts<std::uint16_t> parts_by_place(const SampledWork& work, const LocationFilter& wanted);
WorkParts<std::uint32_t> parts_by_thread(const SampledWork& work, const LocationFilter& wanted);
// Only the work between units, by the two events.
WorkParts<EventPair> parts_between_units(const SampledWork& work, const LocationFilter& wanted);

// The part's share of the whole; 0 if the whole is 0.
double share_of(const SampleSum& part, const SampleSum& whole);

}  // namespace sojourn::profile
