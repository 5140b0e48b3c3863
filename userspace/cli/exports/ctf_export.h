// The Common Trace Format of `sojourn export`: a directory with two files.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

// Writes into the directory request.output, which is made or must be empty. `metadata` appears
// last: without it the directory is no trace.
Result<void> export_ctf(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& write);

}  // namespace sojourn::cli
