// Reads recordings of OpenAirInterface's T tracer (`record.raw`) into a trace: one stream a file,
// each message an event of a scalar point, beside whatever else the trace's reader knows of the
// same time. Memory: one record and a window of events that waits to be put in order. One thread
// owns it all.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/trace/writer.h"

namespace sojourn::oai_t {

// records = events + list_records + unlisted + malformed.
struct FileSummary {
  std::string path;
  std::uint64_t records = 0;
  std::uint64_t events = 0;
  std::uint64_t list_records = 0;  // that bring the list of messages
  std::uint64_t unlisted = 0;      // of no message of the list, or before it was whole
  std::uint64_t malformed = 0;     // do not hold what the list says
  std::uint64_t disordered = 0;    // events that came behind a later one and were put in order
  std::uint64_t first_ns = 0;      // since 1970
  std::uint64_t last_ns = 0;
  std::string failure;  // why reading ended before the file did; empty: it did not
};

struct Summary {
  std::vector<FileSummary> files;
  std::size_t points = 0;

  std::uint64_t events() const {
    std::uint64_t sum = 0;
    for (const FileSummary& file : files) sum += file.events;
    return sum;
  }
};

using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t of_bytes)>;

// Writes schema, streams, events and what is known of the capture; the caller finishes the file. A
// trace's time is nanoseconds since 1970 here, which its clock pair says. Fails where a file cannot
// be read at all or has not one event.
Result<Summary> import_files(std::span<const std::string> paths, trace::Writer& writer,
                             const Progress& progress);

}  // namespace sojourn::oai_t
