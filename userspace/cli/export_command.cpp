// `sojourn export`: a trace as another tool reads it.
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/exports/export_formats.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/files/nameless_file.h"
#include "userspace/http/client.h"

namespace sojourn::cli {
namespace {

Result<void> write_file(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice) {
  std::error_code error;
  if (std::filesystem::equivalent(request.path, request.output, error))
    return fail("write {}: it is the trace to export", request.output);
  SJ_TRY(file, OutputFile::create(request.output));
  SJ_CHECK(
      export_format(request.to).run(request, std::move(reader), notice, [&](std::string_view text) {
        return file.write(text);
      }));
  return file.finish();
}

// The file for --open: that of -o, else one that goes away afterwards.
Result<base::Fd> write_for_page(const ExportRequest& request, trace::Reader reader,
                                const std::string& notice) {
  if (!request.output.empty()) {
    SJ_CHECK(write_file(request, std::move(reader), notice));
    base::Fd file(::open(request.output.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return fail_errno("open {}", request.output);
    return file;
  }
  SJ_TRY(file, files::nameless_file());
  SJ_CHECK(export_format(request.to)
               .run(request, std::move(reader), notice, [&](std::string_view bytes) {
                 return files::append(
                     file, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
               }));
  return std::move(file);
}

Result<void> run(const ExportRequest& request) {
  SJ_TRY(reader, open_trace(request.path));
  const std::string notice = tell_if_not_whole(reader);
  const ExportFormat& format = export_format(request.to);
  if (request.open.given()) {
    const auto name = std::filesystem::path(request.output.empty() ? request.path : request.output);
    // Before the work: the port may be taken.
    SJ_TRY(server, PerfettoServer::start(name.stem().string() + ".pftrace"));
    SJ_TRY(file, write_for_page(request, std::move(reader), notice));
    return request.open.serve(server, std::move(file));
  }
  if (format.is_directory || http::is_web_address(request.output))
    return format.run(request, std::move(reader), notice, {});
  if (request.output.empty() || request.output == "-")
    return format.run(request, std::move(reader), notice, print_data);
  return write_file(request, std::move(reader), notice);
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
  what.type_name(fmt::format("{}", fmt::join(export_part_names(), "|")));  // for shells
  what.option_text("PART");
  choose_from(arguments.add_option("--compat", request->compat,
                                   "Rebuild journeys as LatSeq's own rebuilder does"),
              {"latseq"});
  request->rules.define(arguments);
  request->where.define(arguments,
                        "Only journeys (with lseq, events and queues: events) for which this is "
                        "true, e.g. 'rnti == 0x4601' (docs/filters.md)");
  request->script.define(arguments);
  request->deadline.define(arguments,
                           "With --what causes: a packet is late when it took longer than this; by "
                           "default the slowest 1 % of each direction are late");
  request->choice.define(arguments);
  arguments
      .add_option("-o,--output", request->output,
                  "The file to write: it appears once it is complete. Standard output by default, "
                  "and with -. With ctf a directory, new or empty. With otlp also an address, "
                  "http://127.0.0.1:4318: spans are posted there, to /v1/traces where it names no "
                  "path")
      .type_name("FILE")
      .check(check_output_name);
  request->open.define(arguments);
  arguments.when_parsed([request] {
    request->deadline.check();
    check_export(*request);
  });
  arguments.footer(export_format_lines() +
                   "\n"
                   "docs/exports.md says what each holds, docs/latseq.md what LatSeq's do.");
  return [request] {
    auto exported = run(*request);
    return exported ? request->script.outcome() : exported;
  };
}

}  // namespace sojourn::cli
