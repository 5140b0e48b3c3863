// Traces in the Common Trace Format into a trace of sojourn's: one stream a directory. Memory: a
// window of events that wait to be put in order, and the names of threads. One thread owns it all.
#pragma once

#include <span>
#include <string>

#include "analysis/base/result.h"
#include "analysis/hits/hit_import.h"
#include "analysis/imports/destination.h"

namespace sojourn::ctf {

// `clock`: the clock of the destination's times. A trace with another clock is refused. Fails if a
// directory has no event, or is damaged before the first one.
Result<hits::Summary> import_directories(std::span<const std::string> paths, imports::Clock clock,
                                         hits::PointMap map, hits::TimeShift shift,
                                         imports::Destination& into);

}  // namespace sojourn::ctf
