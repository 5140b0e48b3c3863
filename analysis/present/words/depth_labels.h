// Remarks of `report` and `queues` about units that were never seen to leave a place, and so about
// its depth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sojourn::present {

// The mark of a depth that means nothing; a line below the table explains it.
inline constexpr std::string_view kNoDepthMark = " *";

struct NeverLeft {
  std::uint64_t units = 0;
  std::uint64_t of = 0;
  double depth_share = 0;
  bool is_depth_known = true;
};

// "* U phy.in.proc: 5,724 of 7,248 (79.0 %) were never seen to leave: ..."
std::string never_left_text(std::string_view place, const NeverLeft& found);

}  // namespace sojourn::present
