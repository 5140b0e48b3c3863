#include "analysis/host/host_profile.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sojourn::host {

namespace {

constexpr std::array kUnitNames = {
    std::pair{Unit::kNs, std::string_view("ns")},
    std::pair{Unit::kBytesPerSecond, std::string_view("B/s")},
    std::pair{Unit::kBytes, std::string_view("B")},
    std::pair{Unit::kHertz, std::string_view("Hz")},
    std::pair{Unit::kPercent, std::string_view("%")},
    std::pair{Unit::kCount, std::string_view("count")},
};

}  // namespace

std::string_view name(Unit unit) {
  const auto found = std::ranges::find(kUnitNames, unit, [](const auto& one) { return one.first; });
  return found == kUnitNames.end() ? std::string_view() : found->second;
}

std::optional<Unit> unit_named(std::string_view name) {
  const auto found =
      std::ranges::find(kUnitNames, name, [](const auto& one) { return one.second; });
  if (found == kUnitNames.end()) return std::nullopt;
  return found->first;
}

std::optional<double> Measurement::deviation() const {
  const std::optional<double> expected = predicted();
  if (!expected || *expected == 0 || !is_measured()) return std::nullopt;
  return measured.median / *expected - 1;
}

const Measurement* HostProfile::find(std::string_view id) const {
  const auto found = std::ranges::find(measurements, id, &Measurement::id);
  return found == measurements.end() || !found->is_measured() ? nullptr : &*found;
}

const MachineFact* HostProfile::fact(std::string_view id) const {
  const auto found = std::ranges::find(facts, id, &MachineFact::id);
  return found == facts.end() ? nullptr : &*found;
}

std::optional<double> HostProfile::median(std::string_view id) const {
  const Measurement* const found = find(id);
  if (found == nullptr) return std::nullopt;
  return found->measured.median;
}

}  // namespace sojourn::host
