// The formats that `sojourn export` writes. The command, its help and the shells' completion read
// this one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/exports/export_request.h"

namespace sojourn::cli {

// `notice`: the messages about an incomplete trace that were printed (trace_argument.h).
using RunExport = Result<void> (*)(const ExportRequest& request, trace::Reader reader,
                                   const std::string& notice, const exports::Write& write);

// The options of the command that a format can take.
enum class Takes : std::uint8_t {
  kNothing = 0,
  kRules = 1,
  kWhere = 2,
  kCompat = 4,
  kDeadline = 8,
  kChoice = 16,  // --worst, --sample
  kOpen = 32,
  kScript = 64
};
constexpr Takes operator|(Takes left, Takes right) {
  return static_cast<Takes>(std::to_underlying(left) | std::to_underlying(right));
}

// A part of a format, and what of the options it takes.
struct ExportPart {
  std::string_view name;  // empty: the format has no parts
  Takes takes = Takes::kNothing;
};

struct ExportFormat {
  std::string_view name;
  std::string_view what_it_is;        // a line of the help
  std::span<const ExportPart> parts;  // the first one is the default; never empty
  RunExport run;
  bool is_directory = false;  // that `run` makes, and `write` is not asked
  bool is_posted = false;     // by `run`, where the output is a web address
};

std::span<const ExportFormat> export_formats();

// The words of --to, of --what, and the lines of the help.
std::vector<std::string> export_format_names();
std::vector<std::string> export_part_names();
std::string export_format_lines();

const ExportFormat& export_format(std::string_view name);  // one of the table
// Chooses the part, and refuses options that the format does not take. It may be called only while
// arguments are parsed.
void check_export(ExportRequest& request);

}  // namespace sojourn::cli
