// `sojourn export`: a trace as another tool reads it.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "userspace/cli/command.h"
#include "userspace/cli/exports/export_formats.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

Result<void> run(const ExportRequest& request) {
  SJ_TRY(reader, open_trace(request.path));
  const std::string told = tell_if_not_whole(reader);
  const ExportFormat& format = export_format(request.to);
  const RunExport export_trace = format.run;
  if (format.is_directory) return export_trace(request, std::move(reader), told, {});
  if (request.output.empty() || request.output == "-")
    return export_trace(request, std::move(reader), told, print_data);
  std::error_code error;
  if (std::filesystem::equivalent(request.path, request.output, error))
    return fail("write {}: it is the trace to export", request.output);
  SJ_TRY(file, OutputFile::create(request.output));
  SJ_CHECK(export_trace(request, std::move(reader), told,
                        [&](std::string_view text) { return file.write(text); }));
  return file.finish();
}

}  // namespace

Action define_export(Arguments& arguments) {
  auto request = std::make_shared<ExportRequest>();
  add_trace(arguments, request->path);
  // The words are many: help lists them below, and shells complete them.
  Argument to = arguments.add_option("--to", request->to, "The format, see below").required();
  choose_from(to, export_format_names());
  to.option_text("FORMAT");
  Argument what = arguments.add_option("--what", request->what,
                                       "Which part of it, see below; by default the first that is "
                                       "named there");
  choose_from(what, export_part_names());
  what.option_text("PART");
  choose_from(arguments.add_option("--compat", request->compat,
                                   "Rebuild journeys as LatSeq's own rebuilder does"),
              {"latseq"});
  request->rules.define(arguments);
  request->where.define(arguments,
                        "Only journeys (with lseq, events and queues: events) for which this is "
                        "true, e.g. 'rnti == 0x4601' (docs/filters.md)");
  request->deadline.define(arguments,
                           "With --what causes: a packet is late when it took longer than this; by "
                           "default the slowest 1 % of each direction are late");
  arguments
      .add_option("-o,--output", request->output,
                  "The file to write: it appears once it is complete. Standard output by default, "
                  "and with -. With ctf a directory, new or empty")
      .type_name("FILE");
  arguments.when_parsed([request] {
    request->deadline.check();
    check_export(*request);
  });
  arguments.footer(export_format_lines() +
                   "\n"
                   "docs/exports.md says what each holds, docs/latseq.md what LatSeq's do.");
  return [request] { return run(*request); };
}

}  // namespace sojourn::cli
