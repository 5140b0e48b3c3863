// The keywords of the filter language: the meaning of each, and the scopes in which it may be used.
// An expression is about one event, about one journey or about what a thread did. Constant data.
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
  kThread,  // a span of a thread, without points and fields
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
  kThread,  // a thread's number, which may be given by the thread's name
  kTime,
  kFlag,
};

struct KeywordInfo {
  std::string_view name;
  Keyword word;
  KeywordKind kind;
  bool of_events;           // may be used where an expression is about one event
  bool of_journeys;         // is a value of the whole journey, not of its events
  bool of_threads = false;  // may be used in filters of a thread's activity
};

const KeywordInfo* find_keyword(std::string_view name);
std::span<const KeywordInfo> all_keywords();

// The most similar of the names, where one is similar enough to be a typing error; else "".
std::string nearest(std::string_view name, const std::vector<std::string>& names);

// ": did you mean X?", or an empty text if no name is similar.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

}  // namespace sojourn::filter
