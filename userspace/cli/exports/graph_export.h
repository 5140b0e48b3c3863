// Graphs of `sojourn export`, as Graphviz text or as pictures (SVG): the threads that feed and
// drain each queue, and the order of points. As texts they are what `queues --dot` and `flow --dot`
// print.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

Result<void> export_svg(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& write);
Result<void> export_dot(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& write);

}  // namespace sojourn::cli
