// Traces as text, and expected texts, for tests that compare output. A fixture has a line for each
// fact, `#` begins a comment:
//   target NAME PID
//   capture OPEN_NS CLOSE_NS TRACER_CPU_NS TARGET_CPU_NS
//   point D ip.in--pdcp.in len:rnti:drb.gsn
//   thread TID NAME
//   clock MONOTONIC_NS REALTIME_NS TAI_NS ERROR_NS
//   ring STREAM                      the stream of a thread; others are of the CPU of their number
//   lost STREAM POINT_NUMBER COUNT   the stream's ring had no room
//   shed POINT_NUMBER FROM_NS UNTIL_NS   the point was off, to stay within the budget
//   NS STREAM TID D ip.in--pdcp.in VALUE...   an event
#pragma once

#include <string>

#include "analysis/base/result.h"

namespace sojourn::golden {

// Writes the fixture as a trace file.
Result<void> write_trace(const std::string& fixture, const std::string& trace);

// Requires that the file holds exactly this text; with SJ_GOLDEN_UPDATE set, writes it there first.
void compare(const std::string& path, const std::string& text);

}  // namespace sojourn::golden
