// Graphs of `sojourn export`, as Graphviz text: who feeds and drains each queue, and which point
// comes before which. The same as `queues --dot` and `flow --dot` print.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

Result<void> export_dot(const ExportRequest& request, trace::Reader reader, const std::string& told,
                        const exports::Write& write);

}  // namespace sojourn::cli
