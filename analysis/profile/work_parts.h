// Sampled work in parts: by hop, by thread, and by the two events between which a thread worked on
// no unit. Plain computations on what was gathered.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/profile/hot_functions.h"
#include "analysis/profile/sampled_work.h"

namespace sojourn::profile {

// The greatest first.
template <typename Key>
using WorkParts = std::vector<std::pair<Key, SampleSum>>;

// A thread's event before a sample and its next one.
using EventPair = std::pair<model::PointId, model::PointId>;

// All of what a filter lets through.
WorkParts<std::uint16_t> parts_by_place(const SampledWork& work, const LocationFilter& wanted);
WorkParts<std::uint32_t> parts_by_thread(const SampledWork& work, const LocationFilter& wanted);
// Only of the time between units.
WorkParts<EventPair> parts_between_units(const SampledWork& work, const LocationFilter& wanted);

// Of the whole; 0 of nothing.
double share_of(const SampleSum& part, const SampleSum& whole);

}  // namespace sojourn::profile
