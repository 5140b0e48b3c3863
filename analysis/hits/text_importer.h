// Reads what `perf script` and bpftrace printed of hits of points into a trace: one stream a file.
// Memory: a window of events that wait to be put in order, and the names of threads. One thread
// owns it all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/base/result.h"
#include "analysis/hits/hit_import.h"
#include "analysis/imports/byte_stream.h"
#include "analysis/imports/destination.h"

namespace sojourn::hits {

enum class Tracer : std::uint8_t { kPerf, kBpftrace };

// Fails if a file cannot be read at all, or has no hit. The caller finishes the trace.
Result<Summary> import_texts(std::span<const std::string> paths, Tracer tracer, PointMap map,
                             TimeShift shift, const imports::Open& open, imports::Destination& into,
                             const imports::Progress& progress);

}  // namespace sojourn::hits
