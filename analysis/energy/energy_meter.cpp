#include "analysis/energy/energy_meter.h"

#include <algorithm>
#include <utility>

namespace sojourn::energy {

namespace {

// Microjoules that a zone can take at most in that time.
double most_in(std::uint64_t ns) {
  return kMostWatts * static_cast<double>(ns) * 1e-3;
}

template <typename Value>
const Value* find_in(const std::map<std::uint32_t, Value>& values, std::uint32_t id) {
  const auto found = values.find(id);
  return found == values.end() ? nullptr : &found->second;
}

}  // namespace

void Counter::add(std::uint64_t ts_ns, std::uint64_t value, std::uint64_t open_ns,
                  std::uint64_t close_ns) {
  ++readings_;
  const std::optional<Reading> before = std::exchange(last_, Reading{ts_ns, value});
  if (!before || ts_ns <= before->ts_ns) return;
  const std::uint64_t gap_ns = ts_ns - before->ts_ns;
  const std::uint64_t from_ns = std::max(before->ts_ns, open_ns);
  const std::uint64_t until_ns = std::min(ts_ns, close_ns);
  if (from_ns >= until_ns) return;
  longest_gap_ns_ = std::max(longest_gap_ns_, gap_ns);
  std::uint64_t grown = value - before->value;
  if (value < before->value) {
    grown += range_;
    ++wraps_;
    const bool fits = range_ != 0 && before->value <= range_;
    if (!fits || static_cast<double>(grown) > most_in(gap_ns)) {
      is_doubtful_ = true;
      return;
    }
  }
  if (range_ != 0 && static_cast<double>(range_) < most_in(gap_ns)) is_doubtful_ = true;
  const std::uint64_t span_ns = until_ns - from_ns;
  amount_ +=
      static_cast<double>(grown) * static_cast<double>(span_ns) / static_cast<double>(gap_ns);
  covered_ns_ += span_ns;
}

EnergyMeter::EnergyMeter(const model::Schema& schema, const model::Energy& about,
                         const model::Capture& capture)
    : about_(about),
      open_ns_(capture.open_ns),
      close_ns_(capture.close_ns == 0 ? UINT64_MAX : capture.close_ns) {
  for (std::size_t id = 0; id < schema.points.size(); ++id)
    if (const auto kind = model::energy_reading_kind(schema.points[id]))
      points_[static_cast<model::PointId>(id)] = *kind;
}

void EnergyMeter::consume(const model::EventBatch& events) {
  if (points_.empty()) return;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto kind = points_.find(events.point()[row]);
    if (kind != points_.end()) take(kind->second, events[row]);
  }
}

void EnergyMeter::take(model::EnergyReadingKind kind, const model::EventView& event) {
  if (event.values.size() != 2) return;
  const auto id = static_cast<std::uint32_t>(event.values[0]);
  const std::uint64_t value = event.values[1];
  switch (kind) {
    case model::EnergyReadingKind::kEnergy: {
      const auto zone = std::ranges::find(about_.zones, id, &model::EnergyZone::id);
      const std::uint64_t range = zone == about_.zones.end() ? 0 : zone->range;
      zones_.try_emplace(id, range).first->second.add(event.ts_ns, value, open_ns_, close_ns_);
      break;
    }
    case model::EnergyReadingKind::kIdle:
      idle_.try_emplace(id, 0).first->second.add(event.ts_ns, value, open_ns_, close_ns_);
      break;
    case model::EnergyReadingKind::kFrequency: {
      if (event.ts_ns < open_ns_ || event.ts_ns >= close_ns_) break;
      Frequencies& all = policies_[id];
      ++all.readings;
      all.sum_khz += static_cast<double>(value);
      all.least_khz = std::min(all.least_khz, value);
      all.most_khz = std::max(all.most_khz, value);
      break;
    }
  }
}

void EnergyMeter::finish(std::uint64_t end_ns) {
  end_ns_ = end_ns;
}

double EnergyMeter::duration_s() const {
  const std::uint64_t end_ns = close_ns_ == UINT64_MAX ? end_ns_ : close_ns_;
  return end_ns > open_ns_ ? static_cast<double>(end_ns - open_ns_) * 1e-9 : 0;
}

const Counter* EnergyMeter::zone(std::uint32_t id) const {
  return find_in(zones_, id);
}

const Counter* EnergyMeter::idle(std::uint32_t id) const {
  return find_in(idle_, id);
}

const Frequencies* EnergyMeter::policy(std::uint32_t id) const {
  return find_in(policies_, id);
}

}  // namespace sojourn::energy
