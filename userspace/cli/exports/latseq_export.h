// LatSeq's formats of `sojourn export` (docs/latseq.md).
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

// Every event as a line; what has no line in the format is counted.
Result<void> export_latseq_lines(const ExportRequest& request, trace::Reader reader,
                                 const std::string& notice, const exports::Write& write);
// Exports the formats that are made of journeys.
Result<void> export_latseq(const ExportRequest& request, trace::Reader reader,
                           const std::string& notice, const exports::Write& write);

}  // namespace sojourn::cli
