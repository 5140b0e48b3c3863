// Formats of `sojourn export` that hold a whole trace: journeys beside queues, threads and losses.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

Result<void> export_chrome(const ExportRequest& request, trace::Reader reader,
                           const std::string& notice, const exports::Write& write);
Result<void> export_perfetto(const ExportRequest& request, trace::Reader reader,
                             const std::string& notice, const exports::Write& write);

}  // namespace sojourn::cli
