#include "analysis/model/profile_info.h"

namespace sojourn::model {

namespace {

constexpr std::string_view kCounterPrefix = "counter.";
constexpr std::string_view kProfileSample = "profile.sample";

Point sample_point(std::string name) {
  Point point;
  point.direction = Direction::kSample;
  point.src = std::move(name);
  point.file = "kernel";
  return point;
}

}  // namespace

Point counter_point(std::string_view counter) {
  Point point = sample_point(std::string(kCounterPrefix).append(counter));
  point.fields = {{.name = "count", .bytes = 8}};
  return point;
}

Point profile_point() {
  Point point = sample_point(std::string(kProfileSample));
  point.fields = {{.name = "stack", .bytes = 4}, {.name = "ns", .bytes = 8}};
  return point;
}

std::string_view counter_of(const Point& point) {
  const std::string_view name = point.src;
  if (point.direction != Direction::kSample) return {};
  if (name == kProfileSample) return kProfile;
  return name.starts_with(kCounterPrefix) ? name.substr(kCounterPrefix.size()) : std::string_view();
}

}  // namespace sojourn::model
