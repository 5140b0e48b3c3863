#include "analysis/journeys/rules.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sojourn::journeys {
namespace {

std::string_view first_part(std::string_view place) {
  return place.substr(0, place.find('.'));
}

std::string_view last_part(std::string_view place) {
  const auto dot = place.rfind('.');
  return dot == std::string_view::npos ? place : place.substr(dot + 1);
}

// Returns whether a condition is true of one of the words, which are separated by blanks.
template <typename Fits>
bool any_word(std::string_view words, Fits fits) {
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    const auto word = words.substr(0, end);
    if (!word.empty() && fits(word)) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool ends_so(std::string_view name, std::string_view ending) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return name.size() >= ending.size() &&
         std::ranges::equal(name.substr(name.size() - ending.size()), ending, same);
}

}  // namespace

bool PointName::matches(const model::Point& point) const {
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

bool Rules::sounds_like_drop(std::string_view place) {
  constexpr std::array kEndings = {"drop", "dropped", "discard", "discarded"};
  while (!place.empty()) {
    const auto end = std::min(place.find_first_of("._-"), place.size());
    const auto word = place.substr(0, end);
    if (std::ranges::any_of(kEndings, [word](const char* ending) { return ends_so(word, ending); }))
      return true;
    place.remove_prefix(std::min(end + 1, place.size()));
  }
  return false;
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

bool Rules::is_buffer(std::string_view field) const {
  return any_word(buffer, [field](std::string_view ending) { return ends_so(field, ending); });
}

bool Rules::is_process(std::string_view field) const {
  return any_word(process, [field](std::string_view word) { return word == field; });
}

bool Rules::is_round(std::string_view field) const {
  return any_word(round, [field](std::string_view word) { return word == field; });
}

bool Rules::is_bearer(std::string_view field) {
  return std::ranges::find(kBearers, field) != kBearers.end();
}

}  // namespace sojourn::journeys
