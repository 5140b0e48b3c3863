// Fields of reserved names, by which points of unprepared programs say what no register holds:
// which call they were hit in, what came before them on their thread, where an address begins to
// stand for a unit and where it ends. They are recorded as they are known at the hit;
// links::Resolver makes of them, when the trace is read in time order, ids and values like any
// other. No state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/model/schema.h"
#include "analysis/model/unread.h"

namespace sojourn::model {

// How a point knows the unit that it continues, where no id tells.
enum class Link : std::uint8_t {
  kCall,  // of the innermost open call of a giver, on the same thread
  kLast,  // of the giver that its thread hit last
  kTurn,  // all of the givers that its thread hit since it took the ones before
  kSpan,  // of the very call that ends here, whose beginning the giver is
};

// A local id: "call-PLACE", "last-PLACE", "turn-PLACE", "span-PLACE". Recorded is which end of the
// link it is.
enum class LinkEnd : std::uint8_t { kGives = 1, kTakes = 2 };

// A property: the thread's stack pointer as it is when the function is entered.
constexpr std::string_view kStackPointerField = "stack-pointer";
// The same of a hit where a function is left: as it was when that call was entered.
constexpr std::string_view kExitStackField = "exit-stack-pointer";
// A property besides the id NAME: "life-NAME". Recorded is what becomes of the address.
enum class Life : std::uint8_t { kBegins = 1, kEnds = 2 };
constexpr std::string_view kLifePrefix = "life-";
// A property besides the field NAME: "inherited-NAME". Recorded is which call's value it is to
// have.
enum class Inherits : std::uint8_t {
  kAround = 1,  // the innermost around the hit that has one
  kOwn = 2,     // the call that ends with the hit, and no other
};
constexpr std::string_view kInheritedPrefix = "inherited-";

constexpr std::array<std::string_view, 4> kLinkPrefixes = {"call-", "last-", "turn-",
                                                           "span-"};  // by Link

inline std::string link_field(Link link, std::string_view place) {
  std::string name(kLinkPrefixes.at(static_cast<std::size_t>(link)));
  // Places have more characters in their names than fields may have.
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

// It says something of the hit or of other fields, and is nothing that people ask for.
inline bool is_auxiliary_field(std::string_view field) {
  return field == kUnreadField || field == kStackPointerField || field == kExitStackField ||
         field.starts_with(kLifePrefix) || field.starts_with(kInheritedPrefix);
}

// Not for the fields that people name.
inline bool is_reserved(std::string_view field) {
  if (is_auxiliary_field(field)) return true;
  for (const std::string_view prefix : kLinkPrefixes)
    if (field.starts_with(prefix)) return true;
  return false;
}

// The same points, in which fields whose values are not known yet when they are recorded, have no
// name that anybody could mean.
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
