#include "analysis/report/slot_length.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace sojourn::report {
namespace {

constexpr std::array<std::string_view, 2> kSlotFields = {"slot", "sl"};
constexpr std::size_t kFewest = 16;
constexpr std::size_t kMaxSpans = 10'000;
// The slot lengths of LTE and NR: a millisecond, or a millisecond halved up to six times. A
// measured length that is near one of them is taken for it.
constexpr std::uint64_t kMaxSlotNs = 1'000'000;
constexpr int kHalvings = 6;
constexpr double kNear = 0.05;

}  // namespace

SlotLength::SlotLength(const model::Schema& schema) : clocks_(schema.points.size()) {
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    const auto& fields = schema.points[i].fields;
    const auto slot = std::ranges::find_if(fields, [](const model::Field& field) {
      return std::ranges::find(kSlotFields, field.name) != kSlotFields.end();
    });
    if (slot != fields.end() && model::is_of_target(schema.points[i].direction))
      clocks_[i].field = static_cast<std::size_t>(slot - fields.begin());
  }
}

void SlotLength::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto point = events.point()[row];
    if (point >= clocks_.size() || !clocks_[point].field) continue;
    auto& clock = clocks_[point];
    const auto event = events[row];
    if (*clock.field >= event.values.size()) continue;
    const auto number = event.values[*clock.field];
    if (clock.begun && number == clock.number) continue;
    if (clock.begun && number == clock.number + 1 && clock.spans_ns.size() < kMaxSpans)
      clock.spans_ns.push_back(event.ts_ns - clock.since_ns);
    clock.begun = true;
    clock.number = number;
    clock.since_ns = event.ts_ns;
  }
}

std::optional<SlotLength::Length> SlotLength::length() const {
  std::size_t most = kFewest;
  for (const Clock& clock : clocks_) most = std::max(most, clock.spans_ns.size());
  std::optional<Length> best;
  double least = 0;
  for (std::size_t point = 0; point < clocks_.size(); ++point) {
    auto spans_ns = clocks_[point].spans_ns;
    if (spans_ns.size() < kFewest || 2 * spans_ns.size() < most) continue;
    std::ranges::sort(spans_ns);
    const auto at = [&](std::size_t quarter) {
      return spans_ns[(spans_ns.size() - 1) * quarter / 4];
    };
    if (at(2) == 0) continue;
    const double spread = static_cast<double>(at(3) - at(1)) / static_cast<double>(at(2));
    if (best && spread >= least) continue;
    least = spread;
    best = {at(2), spans_ns.size(), static_cast<model::PointId>(point)};
  }
  if (!best) return std::nullopt;
  for (int halvings = 0; halvings <= kHalvings; ++halvings) {
    const auto standard = kMaxSlotNs >> halvings;
    const auto off = std::abs(static_cast<double>(best->ns) - static_cast<double>(standard));
    if (off <= kNear * static_cast<double>(standard)) best->ns = standard;
  }
  return best;
}

}  // namespace sojourn::report
