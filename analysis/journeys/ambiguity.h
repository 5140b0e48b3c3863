// An ambiguous step of a journey: why its parent may be another unit, and which units fitted as
// well. Plain data, valid as long as the journey.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/model/schema.h"

namespace sojourn::journeys {

// A step may have several of these reasons. Those from kLongWait to kStranger count only where
// events were lost meanwhile.
enum AmbiguityReason : std::uint8_t {
  kOthersFit = 1 << 0,   // other units with its key waited there too
  kLongWait = 1 << 1,    // its parent waited far longer than any before it
  kLateBranch = 1 << 2,  // its parent had left before
  kProcess = 1 << 3,     // only its HARQ process ties it
  kOverlap = 1 << 4,     // its segments, or the units joined in it, have more bytes than it has
  // A segment was left out, and its beginning was not seen as the others' were.
  kStranger = 1 << 5,
  kNumber = 1 << 6,  // it was not certain which unit got which number
  kSender = 1 << 7,  // several senders use the same numbers or processes
};

struct AmbiguityReasonText {
  AmbiguityReason doubt = kOthersFit;
  std::string_view name;      // for programs
  std::string_view sentence;  // for people
};

inline constexpr std::array kAmbiguityReasons = {
    AmbiguityReasonText{kOthersFit, "others", "others fitted as well"},
    AmbiguityReasonText{kLongWait, "wait",
                        "waited far longer than any before it, and events are missing"},
    AmbiguityReasonText{kLateBranch, "branch",
                        "its parent had left already, and events are missing"},
    AmbiguityReasonText{kProcess, "process", "known by its process only, and events are missing"},
    AmbiguityReasonText{kOverlap, "overlap",
                        "more was joined in it than it holds, and events are missing"},
    AmbiguityReasonText{kStranger, "stranger",
                        "a piece from elsewhere was left out, and events are missing"},
    AmbiguityReasonText{
        kNumber, "number",
        "it got its number in the order of arrival, and what waited before is not known"},
    AmbiguityReasonText{
        kSender, "sender",
        "several senders share its number or process, and nothing says whose it is"}};

// A unit that fitted as well as the parent that was taken.
struct Alternative {
  std::uint64_t ts_ns = 0;
  std::uint64_t seq = 0;  // its number in the stream
  std::uint32_t tid = 0;
  std::uint32_t stream = 0;
  model::PointId point = 0;
  std::span<const std::uint64_t> values;
};

struct Ambiguity {
  std::uint32_t step = 0;
  std::uint8_t doubts = 0;
  bool more_fit = false;                      // more units fitted than are named
  std::span<const Alternative> alternatives;  // the nearest first
};

}  // namespace sojourn::journeys
