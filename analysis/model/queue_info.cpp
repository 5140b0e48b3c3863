#include "analysis/model/queue_info.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace sojourn::model {

namespace {

constexpr std::array<std::string_view, 4> kKinds = {"stage", "pool", "bidirectional",
                                                    "between processes"};
constexpr std::array<std::string_view, 4> kEvents = {"found", "appeared", "described", "ended"};
constexpr std::array<std::string_view, 3> kModes = {"fixed", "adaptive", "busy"};

template <std::size_t kNames, typename Enum>
std::string_view name_of(const std::array<std::string_view, kNames>& names, Enum value) {
  const auto at = static_cast<std::size_t>(value);
  return at < names.size() ? names[at] : "unknown";
}

template <typename Enum, std::size_t kNames>
std::optional<Enum> value_of(const std::array<std::string_view, kNames>& names,
                             std::string_view text) {
  const auto name = std::ranges::find(names, text);
  if (name == names.end()) return std::nullopt;
  return static_cast<Enum>(name - names.begin());
}

}  // namespace

bool QueueInfo::is_group_of(std::string_view place) const {
  return group != 0 && name.size() > place.size() && name.starts_with(place) &&
         name[place.size()] == ' ';
}

bool QueueInfo::joins(std::string_view from_thread, std::string_view to_thread) const {
  return !from_thread.empty() && !to_thread.empty() && group == 0 &&
         producer.stage == from_thread && consumer.stage == to_thread;
}

std::string_view name(QueueKind kind) {
  return name_of(kKinds, kind);
}
std::optional<QueueKind> queue_kind_from_name(std::string_view text) {
  return value_of<QueueKind>(kKinds, text);
}
std::string_view name(QueueEvent event) {
  return name_of(kEvents, event);
}
std::optional<QueueEvent> queue_event_from_name(std::string_view text) {
  return value_of<QueueEvent>(kEvents, text);
}
std::string_view name(SamplingMode mode) {
  return name_of(kModes, mode);
}
std::optional<SamplingMode> sampling_mode_from_name(std::string_view text) {
  return value_of<SamplingMode>(kModes, text);
}

std::string QueueInfo::shown_name() const {
  return name.empty() ? fmt::format("queue {:#x}", id) : name;
}

Point queue_sample_point() {
  Point point{
      .direction = Direction::kSample, .src = "queue.sample", .dest = {}, .fields = {}, .file = {}};
  for (const char* const field : {"in", "out", "slack", "span", "gap", "same"})
    point.fields.push_back({.name = field});
  point.fields.push_back({.name = "queue", .role = Role::kLocal});
  return point;
}

std::optional<QueueSample> queue_sample(const Schema& schema, const EventView& event) {
  if (event.point >= schema.points.size() || event.values.size() != QueueSample::kFields)
    return std::nullopt;
  const Point& point = schema.points[event.point];
  if (point.direction != Direction::kSample || point.src != "queue.sample" ||
      point.fields.back().name != "queue")
    return std::nullopt;
  const auto& v = event.values;
  return QueueSample{.in = v[0],
                     .out = v[1],
                     .slack = v[2],
                     .span_ns = v[3],
                     .gap_ns = v[4],
                     .same = v[5],
                     .queue = v[6]};
}

}  // namespace sojourn::model
