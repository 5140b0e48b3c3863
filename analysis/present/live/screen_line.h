// A line of a screen: pieces of text with their styles. The terminal chooses the colours, if it has
// any. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sojourn::present {

enum class Look : std::uint8_t {
  kPlain,
  kDim,     // unimportant text
  kStrong,  // text to read first
  kTitle,   // the bar on top
  kHeader,  // of a table
  kDown,    // the downlink
  kUp,      // the uplink
  kBar,
  kSpark,
  kWarning,
  kBad,
  kKey,       // something to press
  kSelected,  // the row that the cursor is on
};

struct ScreenSpan {
  std::string text;
  Look look = Look::kPlain;
};
using ScreenLine = std::vector<ScreenSpan>;

}  // namespace sojourn::present
