// An uplink's points for the tests of ids that are used again: HARQ rounds in a loop, buffers that
// are used again, segments under a number.
#pragma once

#include <string_view>

namespace sojourn::journeys {

inline constexpr std::string_view kUp = R"(
    U start--dec ::fm.hqpid.hqround
    U dec--demux len::fm.hqpid.hqround
    U dec--retx ::fm.hqpid
    U retx--start ::hqpid.hqround
    U dec--retxdrop ::fm.hqpid
    U demux--rlc len::fm.hqpid.lcid.MRbuf
    U rlc--sdu len::MRbuf.sn.so
    U sdu--out len::sn
)";

}  // namespace sojourn::journeys
