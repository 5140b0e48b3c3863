// The trace itself, as a script makes it.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

Result<void> export_scripted(const ExportRequest& request, trace::Reader reader,
                             const std::string& notice, const exports::Write& write);

}  // namespace sojourn::cli
