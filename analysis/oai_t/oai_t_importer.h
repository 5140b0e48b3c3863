// Reads recordings of OpenAirInterface's T tracer (`record.raw`) into a trace: one stream for each
// file, and an event of a scalar point for each message. Memory holds one record and a window of
// events that wait to be put in order. One thread owns it all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/base/result.h"
#include "analysis/imports/byte_stream.h"
#include "analysis/imports/destination.h"
#include "analysis/imports/import_summary.h"

namespace sojourn::oai_t {

// records = events + outside + list_records + unlisted + malformed.
struct FileSummary : imports::ImportedFile {
  std::uint64_t records = 0;
  std::uint64_t list_records = 0;  // records with the list of messages
  std::uint64_t unlisted =
      0;  // their message is not in the list, or came before the list was complete
  std::uint64_t malformed = 0;  // do not have the values of their format
};

using Summary = imports::Summary<FileSummary>;

// Fails if a file cannot be read at all or has no event. The caller finishes the trace.
Result<Summary> import_files(std::span<const std::string> paths, const imports::Open& open,
                             imports::Destination& into, const imports::Progress& progress);

}  // namespace sojourn::oai_t
