// Fields of reserved names, for facts about hits of unprepared programs that no register holds: the
// call that the hit was in, the hits before it on its thread, the begin and the end of an address's
// life. They are recorded in the form that is known at the hit; links::Resolver turns them into
// ordinary ids and values when the trace is read in time order. No state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/model/schema.h"
#include "analysis/model/unread.h"

namespace sojourn::model {

// The way in which a point finds the unit that it continues, if no id identifies it.
enum class Link : std::uint8_t {
  kCall,  // the innermost open call of a giver, on the same thread
  kLast,  // the giver that its thread hit last
  kTurn,  // all givers that its thread hit since the last take
  kSpan,  // the call that ends here, whose beginning is the giver
};

// A local id: "call-PLACE", "last-PLACE", "turn-PLACE", "span-PLACE". The recorded value is the end
// of the link.
enum class LinkEnd : std::uint8_t { kGives = 1, kTakes = 2 };

// A property: the thread's stack pointer at the function's entry.
constexpr std::string_view kStackPointerField = "stack-pointer";
// Used at a function's exit: the stack pointer at the entry of that call.
constexpr std::string_view kExitStackField = "exit-stack-pointer";
// A property beside the id NAME: "life-NAME". The recorded value says whether the life begins or
// ends.
enum class Life : std::uint8_t { kBegins = 1, kEnds = 2 };
constexpr std::string_view kLifePrefix = "life-";
// A property beside the field NAME: "inherited-NAME". The recorded value says which call's value it
// gets.
enum class Inherits : std::uint8_t {
  kAround = 1,  // the innermost call around the hit that has one
  kOwn = 2,     // only the call that ends with the hit
};
constexpr std::string_view kInheritedPrefix = "inherited-";

constexpr std::array<std::string_view, 4> kLinkPrefixes = {"call-", "last-", "turn-",
                                                           "span-"};  // by Link

inline std::string link_field(Link link, std::string_view place) {
  std::string name(kLinkPrefixes.at(static_cast<std::size_t>(link)));
  // Names of places may have characters that names of fields may not have.
  for (const char c : place) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += is_plain ? c : '_';
  }
  return name;
}

inline std::optional<Link> link_of(const Field& field) {
  for (std::size_t at = 0; at < kLinkPrefixes.size() && field.role == Role::kLocal; ++at)
    if (field.name.starts_with(kLinkPrefixes.at(at))) return static_cast<Link>(at);
  return std::nullopt;
}

// Returns whether a field describes the hit or other fields, and is not shown to people.
inline bool is_auxiliary_field(std::string_view field) {
  return field == kUnreadField || field == kStackPointerField || field == kExitStackField ||
         field.starts_with(kLifePrefix) || field.starts_with(kInheritedPrefix);
}

// Returns whether a name may not be used for fields of maps.
inline bool is_reserved(std::string_view field) {
  if (is_auxiliary_field(field)) return true;
  for (const std::string_view prefix : kLinkPrefixes)
    if (field.starts_with(prefix)) return true;
  return false;
}

// Returns the points with nameless fields if the value is not known at the hit, so that no filter
// can use them.
inline Schema as_recorded(Schema schema) {
  for (Point& point : schema.points) {
    const Point whole = point;
    for (Field& field : point.fields)
      if (link_of(field) || whole.field(std::string(kInheritedPrefix) + field.name))
        field.name = "known-later";
  }
  return schema;
}

}  // namespace sojourn::model
