// The grammar of LatSeq's lines, in every variant that is known; docs/latseq.md lists them. A line
// is an event, a clock line, a header, blank, or skipped for one named reason. Nothing in a line is
// trusted. One thread owns a LineParser; what parse() returns is valid until the next call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/imports/line_reader.h"
#include "analysis/model/schema.h"

namespace sojourn::latseq {

using imports::kMaxLineBytes;

// Why a line is not in the trace.
enum class Skip : std::uint8_t {
  kNoStamp,
  kStampZero,
  kStampRange,
  kNoClock,
  kNoDirection,
  kNoPlaces,
  kTwoLines,
  kNames,
  kValueRange,
  kTooLong,
  kTooManyPoints,
  kClockLine,
  kCut,
};
constexpr std::size_t kSkips = 13;

std::string_view key(Skip why);    // "no_stamp", for programs
std::string_view words(Skip why);  // "does not begin with a time stamp", for people

struct Stamp {
  bool cycles = false;      // of a counter that only clock lines can read; else nanoseconds
  std::uint64_t value = 0;  // since 1970 where these are nanoseconds
};

struct Line {
  enum class Kind : std::uint8_t { kEvent, kClock, kHeader, kBlank, kSkipped };

  Kind kind = Kind::kBlank;
  Skip why = Skip::kNoStamp;   // of a skipped line
  Stamp stamp;                 // of an event or a clock line
  std::uint64_t clock_ns = 0;  // of a clock line: the wall clock, since 1970
  // The part that all events of a point share: the line without its stamp and its values, e.g.
  // "D mac.mux--mac.txreq len:rnti:lcid.harq".
  std::string shape;
  std::vector<std::uint64_t> values;  // one for each name in the shape
  std::uint32_t fields_left_out = 0;  // without a name or a number, or too many
};

class LineParser {
 public:
  const Line& parse(std::string_view text);

 private:
  void parse_event(std::string_view text);
  void parse_clock(std::string_view rest);
  bool parse_fields(std::string_view rest);
  bool parse_field(std::string_view field, std::size_t group);
  bool add_field(std::string_view name, std::size_t group, std::uint64_t value);
  void skip(Skip why);

  Line line_;
  std::size_t group_ = 0;  // the present group of the shape
};

}  // namespace sojourn::latseq
