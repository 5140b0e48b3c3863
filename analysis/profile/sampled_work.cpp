#include "analysis/profile/sampled_work.h"

#include <algorithm>
#include <utility>

namespace sojourn::profile {

SampledWork::SampledWork(const model::Schema& schema, const journeys::Topology& topology,
                         const model::Profile& profile, SampleFilter wants)
    : topology_(topology),
      profile_(profile),
      wants_(std::move(wants)),
      by_point_(schema.points.size()),
      amounts_(profile.counters.size()),
      threads_(topology,
               [this](const ThreadLocation& at, std::uint64_t key, const SampleSum& amount) {
                 const auto point = static_cast<std::size_t>(key >> 32);
                 amounts_[by_point_[point]->counter][at].add(amount);
                 if (by_point_[point]->has_stacks)
                   stacks_[{at, static_cast<std::uint32_t>(key)}].add(amount);
               }) {
  for (std::size_t point = 0; point < schema.points.size(); ++point) {
    const std::string_view name = model::counter_of(schema.points[point]);
    const auto known = std::ranges::find(profile.counters, name, &model::Counter::name);
    const bool is_profile = name == model::kProfile;
    // A point of another version may have other fields. Its samples are skipped.
    const auto wanted = (is_profile ? model::profile_point() : model::counter_point(name)).fields;
    if (name.empty() || known == profile.counters.end() || schema.points[point].fields != wanted)
      continue;
    by_point_[point] =
        Source{static_cast<std::size_t>(known - profile.counters.begin()), is_profile};
  }
}

void SampledWork::consume(const model::EventBatch& events) {
  if (is_empty()) return;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::EventView event = events[row];
    if (event.point >= by_point_.size()) continue;
    const auto& source = by_point_[event.point];
    if (!source) {
      threads_.on_event(event);
      continue;
    }
    if (wants_ && !wants_(event)) continue;
    const std::uint64_t stack = source->has_stacks ? event.values[0] & UINT32_MAX : 0;
    threads_.hold(event.tid, static_cast<std::uint64_t>(event.point) << 32 | stack,
                  event.values.back());
  }
}

std::map<std::uint32_t, std::string> thread_names(const model::Context& context) {
  std::map<std::uint32_t, std::string> names;
  for (const model::ContextName& name : context.names)
    if (name.kind == model::NameKind::kThread)
      names[static_cast<std::uint32_t>(name.id)] = name.name;
  return names;
}

}  // namespace sojourn::profile
