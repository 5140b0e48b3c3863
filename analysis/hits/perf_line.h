// A line that `perf script` printed:
//   station  4242 [001]  1234.567890123: sdt_gnb:pdcp_in: (55d0c0de) arg1=40 arg2=0x4601
// The CPU may be missing, and a process may stand before the thread: 4242/4243. perf's own prefixes
// of events, sdt_ and probe_, are taken away. Pure.
#pragma once

#include <string_view>

#include "analysis/hits/hit.h"
#include "analysis/hits/line.h"

namespace sojourn::hits {

// Fills the hit if the line is one. Views are of the text.
Line parse_perf_line(std::string_view text, Hit& hit);

}  // namespace sojourn::hits
