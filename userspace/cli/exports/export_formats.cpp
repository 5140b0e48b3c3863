#include "userspace/cli/exports/export_formats.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/cli/exports/ctf_export.h"
#include "userspace/cli/exports/graph_export.h"
#include "userspace/cli/exports/latseq_export.h"
#include "userspace/cli/exports/otlp_export.h"
#include "userspace/cli/exports/pass_export.h"
#include "userspace/cli/exports/redacted_export.h"
#include "userspace/cli/exports/scripted_export.h"
#include "userspace/cli/exports/table_export.h"
#include "userspace/http/client.h"

namespace sojourn::cli {

namespace {

constexpr Takes kOfEvents = Takes::kWhere | Takes::kScript;
constexpr Takes kOfJourneys = Takes::kRules | Takes::kWhere | Takes::kScript;
constexpr Takes kOfLatseq = Takes::kRules | Takes::kWhere | Takes::kCompat;

constexpr std::array kTables = {
    ExportPart{"journeys", kOfJourneys},    ExportPart{"hops", kOfJourneys},
    ExportPart{"events", kOfEvents},        ExportPart{"queues", kOfEvents},
    ExportPart{"in-flight", Takes::kRules}, ExportPart{"causes", kOfJourneys | Takes::kDeadline}};
constexpr std::array kWhole = {ExportPart{"", kOfJourneys}};
constexpr std::array kPerfetto = {ExportPart{"", kOfJourneys | Takes::kOpen}};
constexpr std::array kSpans = {ExportPart{"", kOfJourneys | Takes::kChoice}};
constexpr std::array kGraphs = {ExportPart{"topology", Takes::kRules}, ExportPart{"flow"}};
constexpr std::array kCtf = {ExportPart{"", kOfEvents}};
constexpr std::array kRedacted = {ExportPart{""}};
constexpr std::array kScripted = {ExportPart{"", Takes::kScript}};
constexpr std::array kLseq = {ExportPart{"", kOfEvents}};
constexpr std::array kLseqj = {ExportPart{"events", kOfLatseq}};
constexpr std::array kLatseqJson = {ExportPart{"journeys", kOfLatseq},
                                    ExportPart{"points", kOfLatseq}, ExportPart{"paths", kOfLatseq},
                                    ExportPart{"stats", kOfLatseq}};
constexpr std::array kLatseqCsv = {ExportPart{"durations", kOfLatseq},
                                   ExportPart{"matrix", kOfLatseq}};

constexpr std::array kFormats = {
    ExportFormat{"csv", "comma-separated values, a table of --what", kTables, export_csv},
    ExportFormat{"jsonl", "the same tables, a JSON object a line", kTables, export_json_lines},
    ExportFormat{"parquet", "the same tables for DuckDB and pandas", kTables, export_parquet},
    ExportFormat{"perfetto", "a trace for ui.perfetto.dev: packets, threads, queues, scheduler",
                 kPerfetto, export_perfetto},
    ExportFormat{"chrome", "Chrome's JSON trace events, for what reads nothing else", kWhole,
                 export_chrome},
    ExportFormat{"ctf",
                 "the Common Trace Format 1.8, a directory, for babeltrace2 and Trace Compass",
                 kCtf, export_ctf, true},
    ExportFormat{"otlp",
                 "spans of OpenTelemetry as protocol buffers; -o http://HOST:4318 posts them to a "
                 "collector",
                 kSpans, export_otlp, false, true},
    ExportFormat{"otlp-json", "the same as JSON, a batch a line", kSpans, export_otlp_json, false,
                 true},
    ExportFormat{"dot", "a graph for Graphviz", kGraphs, export_dot},
    ExportFormat{"svg", "the same graph as a picture", kGraphs, export_svg},
    ExportFormat{"lseq", "a LatSeq recording: one event a line, times since 1970", kLseq,
                 export_latseq_lines},
    ExportFormat{"lseqj",
                 "the events of complete journeys with the journeys' numbers, for lseqj2any",
                 kLseqj, export_latseq},
    ExportFormat{"latseq-json", "what latseq_logs -j, -p, -r and latseq_stats -sj print",
                 kLatseqJson, export_latseq},
    ExportFormat{"latseq-csv",
                 "the table of durations (latseq_stats -djd -f csv), or the matrix of each path "
                 "(latseq_logs -M)",
                 kLatseqCsv, export_latseq},
    ExportFormat{"scripted",
                 "the trace again (.sjt), as --script makes it: for the commands that run none",
                 kScripted, export_scripted},
    ExportFormat{"redacted", "the trace again (.sjt), with ids and names replaced, to give away",
                 kRedacted, export_redacted},
};

bool takes(const ExportPart& part, Takes option) {
  return (std::to_underlying(part.takes) & std::to_underlying(option)) != 0;
}

const ExportPart& chosen_part(const ExportFormat& format, const ExportRequest& request) {
  if (request.what.empty()) return format.parts.front();
  const auto part = std::ranges::find(format.parts, request.what, &ExportPart::name);
  if (part != format.parts.end()) return *part;
  std::vector<std::string_view> names;
  for (const ExportPart& one : format.parts) names.push_back(one.name);
  if (names.front().empty())
    refuse_usage(fmt::format("--to {} is written whole: it has no --what", format.name));
  refuse_usage(fmt::format("--to {} has no \"{}\": it has {}", format.name, request.what,
                           fmt::join(names, ", ")));
}

}  // namespace

std::span<const ExportFormat> export_formats() {
  return kFormats;
}

std::vector<std::string> export_format_names() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> export_part_names() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats)
    for (const ExportPart& part : format.parts)
      if (!part.name.empty() && std::ranges::find(names, part.name) == names.end())
        names.emplace_back(part.name);
  return names;
}

std::string export_format_lines() {
  constexpr std::size_t kColumn = 14;
  std::string lines;
  for (const ExportFormat& format : kFormats) {
    lines += fmt::format("{:<{}}{}", format.name, kColumn, format.what_it_is);
    if (format.parts.size() > 1) {
      std::vector<std::string_view> names;
      for (const ExportPart& part : format.parts) names.push_back(part.name);
      lines += fmt::format(": {}", fmt::join(names, ", "));
    }
    lines += '\n';
  }
  return lines;
}

const ExportFormat& export_format(std::string_view name) {
  return *std::ranges::find(kFormats, name, &ExportFormat::name);
}

void check_export(ExportRequest& request) {
  const ExportPart& part = chosen_part(export_format(request.to), request);
  request.what = part.name;
  const auto refuse = [&](bool is_given, Takes option, std::string_view name) {
    if (is_given && !takes(part, option))
      refuse_usage(fmt::format("--to {}{}{} has no {}", request.to,
                               part.name.empty() ? "" : " --what ", part.name, name));
  };
  refuse(request.rules.given(), Takes::kRules, "--rules");
  refuse(request.where.given(), Takes::kWhere, "--where");
  refuse(!request.compat.empty(), Takes::kCompat, "--compat");
  refuse(request.deadline.given(), Takes::kDeadline, "--deadline");
  refuse(request.script.given(), Takes::kScript, "--script");
  refuse(request.choice.given(), Takes::kChoice, "--worst and no --sample");
  refuse(request.open.given(), Takes::kOpen, "--open");
  if (request.to == "scripted" && !request.script.given())
    refuse_usage("--to scripted writes what a script makes: say which one with --script");
  if (request.open.given() && request.output == "-")
    refuse_usage("--open gives a file to the page: it has no -o -");
  if (http::is_web_address(request.output)) {
    if (!export_format(request.to).is_posted)
      refuse_usage(fmt::format("--to {} can be written to a file, but not posted", request.to));
    if (const auto url = http::parse_url(request.output); !url)
      refuse_usage("--output: " + url.error().text());
  }
  if (export_format(request.to).is_directory && (request.output.empty() || request.output == "-"))
    refuse_usage(fmt::format("--to {} writes a directory: say which one with -o", request.to));
  if (!request.compat.empty() && request.where.given())
    refuse_usage("--compat latseq has no --where");
}

}  // namespace sojourn::cli
