// The words of the filter language that are no field's name: what each stands for, and in which
// scope. An expression is about one event, about one journey or about what a thread
// did. Constant data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::filter {

enum class Scope : std::uint8_t {
  kEvent,
  kJourney,
  kThread,  // what a thread did at a time: there are no points, nor fields
};

enum class Keyword : std::uint8_t {
  // texts
  kDir,
  kPoint,
  kSrc,
  kDest,
  kHop,
  // numbers of an event
  kTime,
  kThread,
  kCpu,
  kStream,
  // numbers of a journey
  kLatency,
  kSegments,
  kRetransmissions,
  kHarq,
  kDrops,
  kEvents,
  // a journey is so or not
  kComplete,
  kCensored,
  kIncomplete,
  kDropped,
  kAmbiguous,
};

enum class KeywordKind : std::uint8_t {
  kText,
  kNumber,
  kThread,  // a number that may also be given by the name it stands for
  kTime,
  kFlag,
};

struct KeywordInfo {
  std::string_view name;
  Keyword word;
  KeywordKind kind;
  bool of_events;           // may be used where an expression is about one event
  bool of_journeys;         // is one value of a journey, not of each of its events
  bool of_threads = false;  // may be used where it is about what a thread did
};

const KeywordInfo* find_keyword(std::string_view name);
std::span<const KeywordInfo> all_keywords();

// The most similar of the names, where one is similar enough to be a slip of the pen; else "".
std::string nearest(std::string_view name, const std::vector<std::string>& names);

// " did you mean X?" with what stands before it, or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

}  // namespace sojourn::filter
