// Reads the events that srsRAN and OCUDU write of their own spans of work (JSON) into a trace: one
// stream a file, each span or instant an event of a scalar point. Memory: a window of events that
// waits to be put in order, and the names of threads. One thread owns it all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analysis/base/result.h"
#include "analysis/imports/byte_stream.h"
#include "analysis/imports/destination.h"
#include "analysis/imports/import_summary.h"

namespace sojourn::event_json {

// objects = events + outside + other + malformed.
struct FileSummary : imports::ImportedFile {
  std::uint64_t objects = 0;
  std::uint64_t other = 0;      // neither spans nor instants
  std::uint64_t malformed = 0;  // without a required member
  std::uint64_t began_ns = 0;   // since 1970: when the recording's own time is 0
  // No event has the date, so the date of the file's last change is used.
  bool dated_by_file = false;
};

using Summary = imports::Summary<FileSummary>;

// `began_ns`: when the recorded program began, since 1970; if it is missing, events must have a
// time of day. Fails if a file cannot be read at all, has no event, or if its time is not known.
Result<Summary> import_files(std::span<const std::string> paths,
                             std::optional<std::uint64_t> began_ns, const imports::Open& open,
                             imports::Destination& into, const imports::Progress& progress);

}  // namespace sojourn::event_json
