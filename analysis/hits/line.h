// The kinds of lines in a tracer's text. Plain data.
#pragma once

#include <cstdint>

namespace sojourn::hits {

enum class LineKind : std::uint8_t {
  kHit,
  kOther,  // a header, an empty line, a line of a stack: no hit is lost by passing it
  kLost,   // says how many hits the tracer lost
  kMalformed,
};

struct Line {
  LineKind kind = LineKind::kMalformed;
  std::uint64_t lost = 0;
};

}  // namespace sojourn::hits
