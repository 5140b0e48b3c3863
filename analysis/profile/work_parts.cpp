#include "analysis/profile/work_parts.h"

#include <algorithm>
#include <functional>
#include <map>

namespace sojourn::profile {
namespace {

template <typename Key, typename KeyOf>
WorkParts<Key> parts_by(const SampledWork& work, const LocationFilter& wanted, KeyOf key_of) {
  std::map<Key, SampleSum> sums;
  for (const auto& [key, amount] : work.stacks())
    if (wanted(key.at)) sums[key_of(key.at)].add(amount);
  WorkParts<Key> parts(sums.begin(), sums.end());
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           [](const auto& part) { return part.second.weight; });
  return parts;
}

}  // namespace

WorkParts<std::uint16_t> parts_by_place(const SampledWork& work, const LocationFilter& wanted) {
  return parts_by<std::uint16_t>(work, wanted, [](const ThreadLocation& at) { return at.place; });
}

WorkParts<std::uint32_t> parts_by_thread(const SampledWork& work, const LocationFilter& wanted) {
  return parts_by<std::uint32_t>(work, wanted, [](const ThreadLocation& at) { return at.tid; });
}

WorkParts<EventPair> parts_between_units(const SampledWork& work, const LocationFilter& wanted) {
  const auto between = [&](const ThreadLocation& at) {
    return at.place == kBetweenUnits && wanted(at);
  };
  return parts_by<EventPair>(
      work, between, [](const ThreadLocation& at) { return EventPair(at.after, at.before); });
}

double share_of(const SampleSum& part, const SampleSum& whole) {
  return whole.weight == 0 ? 0
                           : static_cast<double>(part.weight) / static_cast<double>(whole.weight);
}

}  // namespace sojourn::profile
