#include "analysis/latseq/latseq_journeys.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sojourn::latseq {

void Stays::set(const std::string& uid, std::uint64_t ns) {
  const auto [place, fresh] = index.try_emplace(uid, by_uid.size());
  if (fresh)
    by_uid.emplace_back(uid, ns);
  else
    by_uid[place->second].second = ns;
}

std::string value_text(const Recording& recording, const Id& id) {
  if (id.list == kOneValue) return std::to_string(id.value);
  return fmt::format("['{}']", fmt::join(recording.lists()[id.list], "', '"));
}

std::string uid(const Recording& recording, const Journey& journey) {
  return value_text(recording, journey.ids.front());
}

void share_events(Journeys& journeys, const Recording& recording, const std::vector<NameId>& inputs,
                  StayOf whose) {
  std::unordered_map<std::uint32_t, std::size_t> known;
  std::string name;
  for (std::uint32_t j = 0; j < journeys.journeys.size(); ++j) {
    const Journey& journey = journeys.journeys[j];
    if (whose == StayOf::kJourney) name = uid(recording, journey);
    for (const std::uint32_t measure : journey.way) {
      const auto [place, fresh] = known.try_emplace(measure, journeys.events.size());
      if (fresh) {
        journeys.events.push_back({.measure = measure, .journey = j, .others = {}});
        if (whose == StayOf::kLatestNewEvent) name = uid(recording, journey);
      } else {
        journeys.events[place->second].others.push_back(j);
      }
      const Measure& event = recording.measures()[measure];
      std::uint64_t stay_ns = Stays::kEntered;
      if (std::ranges::find(inputs, event.src) == inputs.end()) {
        const auto at = std::ranges::find(journey.way, measure) - journey.way.begin();
        const auto before =
            at == 0 ? journey.way.back() : journey.way[static_cast<std::size_t>(at - 1)];
        stay_ns = event.ts_ns - recording.measures()[before].ts_ns;
      }
      journeys.stays[event.src].set(name, stay_ns);
    }
  }
  std::ranges::stable_sort(journeys.events, {}, [&](const SharedEvent& event) {
    return recording.measures()[event.measure].ts_ns;
  });
}

}  // namespace sojourn::latseq
