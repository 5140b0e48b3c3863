// Spans of the OpenTelemetry protocol of `sojourn export`: a file, or posts to a collector where
// the output is a web address.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

Result<void> export_otlp(const ExportRequest& request, trace::Reader reader,
                         const std::string& notice, const exports::Write& write);
Result<void> export_otlp_json(const ExportRequest& request, trace::Reader reader,
                              const std::string& notice, const exports::Write& write);

}  // namespace sojourn::cli
