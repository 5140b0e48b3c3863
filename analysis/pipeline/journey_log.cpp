#include "analysis/pipeline/journey_log.h"

namespace sojourn::pipeline {

void JourneyLog::add(const journeys::Journey& journey) {
  journeys_.push_back({.journey = journey,
                       .inside = append(inside_, journey.inside),
                       .critical_path = append(critical_path_, journey.critical_path),
                       .steps = append(steps_, journey.steps),
                       .ambiguities = append(ambiguities_, journey.ambiguities)});
  for (const journeys::Step& step : journey.steps)
    step_ranges_.push_back({append(values_, step.values), append(parents_, step.parents)});
  for (const journeys::Ambiguity& ambiguity : journey.ambiguities) {
    ambiguity_ranges_.push_back(append(alternatives_, ambiguity.alternatives));
    for (const journeys::Alternative& other : ambiguity.alternatives)
      alternative_ranges_.push_back(append(values_, other.values));
  }
}

// The arrays may have moved since the journey was added: its spans are set when it is asked for.
const journeys::Journey& JourneyLog::operator[](std::size_t index) {
  Entry& entry = journeys_[index];
  for (std::size_t at = entry.steps.begin; at < entry.steps.begin + entry.steps.size; ++at) {
    steps_[at].values = in(values_, step_ranges_[at].values);
    steps_[at].parents = in(parents_, step_ranges_[at].parents);
  }
  const Range& ambiguities = entry.ambiguities;
  for (std::size_t at = ambiguities.begin; at < ambiguities.begin + ambiguities.size; ++at) {
    const Range& others = ambiguity_ranges_[at];
    for (std::size_t other = others.begin; other < others.begin + others.size; ++other)
      alternatives_[other].values = in(values_, alternative_ranges_[other]);
    ambiguities_[at].alternatives = in(alternatives_, others);
  }
  entry.journey.inside = in(inside_, entry.inside);
  entry.journey.critical_path = in(critical_path_, entry.critical_path);
  entry.journey.steps = in(steps_, entry.steps);
  entry.journey.ambiguities = in(ambiguities_, entry.ambiguities);
  return entry.journey;
}

void JourneyLog::clear() {
  journeys_.clear();
  inside_.clear();
  critical_path_.clear();
  steps_.clear();
  step_ranges_.clear();
  parents_.clear();
  ambiguities_.clear();
  ambiguity_ranges_.clear();
  alternatives_.clear();
  alternative_ranges_.clear();
  values_.clear();
}

}  // namespace sojourn::pipeline
