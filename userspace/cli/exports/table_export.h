// A trace's tables, as rows of text, of `sojourn export` (docs/exports.md).
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/exports/rows.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

// The table that was asked for, by whichever writer of rows.
Result<void> export_table(const ExportRequest& request, trace::Reader reader,
                          const std::string& notice, exports::RowWriter& rows);

Result<void> export_csv(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& write);
Result<void> export_parquet(const ExportRequest& request, trace::Reader reader,
                            const std::string& notice, const exports::Write& write);
Result<void> export_json_lines(const ExportRequest& request, trace::Reader reader,
                               const std::string& notice, const exports::Write& write);

}  // namespace sojourn::cli
