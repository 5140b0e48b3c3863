#include "analysis/model/energy_info.h"

namespace sojourn::model {

namespace {

constexpr std::string_view kEnergySample = "energy.sample";
constexpr std::string_view kFrequencySample = "energy.frequency";
constexpr std::string_view kIdleSample = "energy.idle";

Point reading_point(std::string_view name, const char* id, const char* value) {
  Point point;
  point.direction = Direction::kSample;
  point.src = name;
  point.file = "kernel";
  point.fields = {{.name = id, .bytes = 4}, {.name = value, .bytes = 8}};
  return point;
}

}  // namespace

Point energy_point() {
  return reading_point(kEnergySample, "zone", "microjoules");
}

Point frequency_point() {
  return reading_point(kFrequencySample, "policy", "kilohertz");
}

Point idle_point() {
  return reading_point(kIdleSample, "state", "microseconds");
}

std::optional<EnergyReadingKind> energy_reading_kind(const Point& point) {
  if (point == energy_point()) return EnergyReadingKind::kEnergy;
  if (point == frequency_point()) return EnergyReadingKind::kFrequency;
  if (point == idle_point()) return EnergyReadingKind::kIdle;
  return std::nullopt;
}

}  // namespace sojourn::model
