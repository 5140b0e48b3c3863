#include "analysis/journeys/rules.h"

#include <algorithm>

namespace sojourn::journeys {
namespace {

std::string_view first_part(std::string_view place) {
  return place.substr(0, place.find('.'));
}

std::string_view last_part(std::string_view place) {
  const auto dot = place.rfind('.');
  return dot == std::string_view::npos ? place : place.substr(dot + 1);
}

}  // namespace

bool PointName::means(const model::Point& point) const {
  return point.direction == direction && point.name() == name &&
         (!fields || format_fields(point) == *fields);
}

std::string_view name(PointKind kind) {
  switch (kind) {
    case PointKind::kInput:
      return "input";
    case PointKind::kOutput:
      return "output";
    case PointKind::kInner:
      return "inner";
    case PointKind::kDrop:
      return "drop";
    case PointKind::kAck:
      return "ack";
    case PointKind::kControl:
      return "control";
  }
  return "";
}

bool Rules::is_drop(std::string_view place) const {
  return first_part(place) == drop || last_part(place) == drop;
}

bool Rules::is_ack(std::string_view place) const {
  return last_part(place) == ack;
}

bool Rules::is_control(std::string_view place) const {
  while (!place.empty()) {
    const auto part = first_part(place);
    if (part == control) return true;
    place.remove_prefix(std::min(place.size(), part.size() + 1));
  }
  return false;
}

bool Rules::is_sequence(std::string_view field) const {
  return !sequence_suffix.empty() && field.ends_with(sequence_suffix);
}

}  // namespace sojourn::journeys
