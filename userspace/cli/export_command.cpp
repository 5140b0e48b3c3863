// `sojourn export`: a trace as another tool reads it.
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/latseq/line_writer.h"
#include "analysis/latseq/native.h"
#include "analysis/latseq/texts.h"
#include "analysis/model/wall_clock.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/words/text_format.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/latseq_output.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

struct Options {
  std::string path;
  std::string to;
  std::string what;
  std::string compat;
  std::string output;
  RulesOption rules;
  WhereOption where;
};

using PrintPart = Result<void> (*)(const latseq::Recording&, const latseq::Journeys&,
                                   const latseq::Print&);

// A format that is made from journeys, and its parts, the first of which is the default.
struct Part {
  std::string_view to;
  std::string_view what;
  PrintPart print;
};

constexpr std::array kParts = {
    Part{"lseqj", "events", latseq::print_lseqj},
    Part{"latseq-json", "journeys", latseq::print_journeys},
    Part{"latseq-json", "points", latseq::print_points},
    Part{"latseq-json", "paths", latseq::print_paths},
    Part{"latseq-json", "stats", latseq::print_statistics},
    Part{"latseq-csv", "durations", latseq::print_durations},
    Part{"latseq-csv", "matrix", latseq::print_matrix},
};

constexpr std::string_view kLines = "lseq";

const Part* find_part(const Options& options) {
  for (const Part& part : kParts)
    if (part.to == options.to && (options.what.empty() || part.what == options.what)) return &part;
  return nullptr;
}

void check(const Options& options) {
  if (!options.compat.empty() && options.where.given())
    refuse_usage("--compat latseq has no --where");
  if (options.to == kLines) {
    if (!options.what.empty() || !options.compat.empty() || options.rules.given())
      refuse_usage("--to lseq writes the events as they are: no --what, --compat or --rules");
    return;
  }
  if (find_part(options) != nullptr) return;
  std::string parts;
  for (const Part& part : kParts)
    if (part.to == options.to) parts += (parts.empty() ? "" : ", ") + std::string(part.what);
  refuse_usage(fmt::format("--to {} has no \"{}\": it has {}", options.to, options.what, parts));
}

// Writes every event as a line, and counts events that the format cannot express.
Result<void> export_lines(const Options& options, trace::Reader& reader,
                          const latseq::Print& print) {
  SJ_TRY(where, options.where.events(reader));
  const model::WallClock clock(reader.clocks());
  if (!clock.known())
    return fail("{}: has no clock pairs, so LatSeq's times since 1970 are unknown", reader.path());
  latseq::LineWriter writer(reader.schema());
  const std::string name = reader.path().substr(reader.path().rfind('/') + 1);
  SJ_CHECK(print(writer.header(printable(name))));
  ProgressLine line;
  std::uint64_t left_out = 0;
  std::vector<std::uint32_t> rows;
  Result<void> written;
  base::ThreadExecutor threads;
  const auto write = [&](const model::EventBatch& events) {
    select(where, events, rows);
    for (const std::uint32_t row : rows) {
      if (!written) break;
      const std::string& text = writer.line(events[row], clock.realtime_ns(events.ts_ns()[row]));
      if (text.empty())
        ++left_out;
      else
        written = print(text);
    }
    return written.has_value();
  };
  SJ_CHECK(pipeline::read_events(threads, reader, {.progress = line.progress(), .consume = write}));
  SJ_CHECK(std::move(written));
  line.clear();
  if (left_out != 0)
    tell("{}: {} of the kernel and of queues left out: LatSeq has no line for them\n",
         reader.path(), counted(left_out, "event"));
  return {};
}

Result<LatseqJourneys> rebuild_natively(const Options& options, pipeline::TraceInput& input) {
  trace::Reader& reader = input.reader();
  SJ_TRY(where, options.where.journeys(reader));
  ProgressLine line;
  SJ_TRY(recording, latseq::Recording::read(reader, line.progress()));
  latseq::NativeJourneys collector(recording, input.topology(), reader.schema());
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  pass.observe(collector);
  if (where) pass.keep([&](const journeys::Journey& journey) { return (*where)(journey); });
  pass.show(line.progress());
  SJ_CHECK(pass.run());
  line.clear();
  if (collector.left_out() != 0)
    tell("{}: {} left out that LatSeq's tools would not read\n", reader.path(),
         counted(collector.left_out(), "way"));
  latseq::Journeys all = collector.finish();
  return LatseqJourneys{std::move(recording), std::move(all)};
}

// Exports a trace. Damage is reported again if more than `told` was found while reading.
Result<void> export_trace(const Options& options, trace::Reader reader, const std::string& told,
                          const latseq::Print& print) {
  if (options.to == kLines) {
    SJ_CHECK(export_lines(options, reader, print));
    tell_if_not_whole(reader, told);
    return {};
  }
  SJ_TRY(rules, options.rules.read());
  const PrintPart print_part = find_part(options)->print;
  if (!options.compat.empty()) {
    SJ_TRY(rebuilt, rebuild_as_latseq(reader, latseq_ends(rules)));
    SJ_CHECK(print_part(rebuilt.recording, rebuilt.all, print));
    tell_if_not_whole(reader, told);
    return {};
  }
  SJ_TRY(input, derive_input(std::move(reader), rules));
  SJ_TRY(rebuilt, rebuild_natively(options, input));
  SJ_CHECK(print_part(rebuilt.recording, rebuilt.all, print));
  tell_if_not_whole(input.reader(), told);
  return {};
}

Result<void> run(const Options& options) {
  SJ_TRY(reader, open_trace(options.path));
  const std::string told = tell_if_not_whole(reader);
  if (options.output.empty() || options.output == "-")
    return export_trace(options, std::move(reader), told, print_data);
  std::error_code error;
  if (std::filesystem::equivalent(options.path, options.output, error))
    return fail("write {}: it is the trace to export", options.output);
  SJ_TRY(file, OutputFile::create(options.output));
  SJ_CHECK(export_trace(options, std::move(reader), told,
                        [&](std::string_view text) { return file.write(text); }));
  return file.finish();
}

}  // namespace

Action define_export(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  add_trace(arguments, options->path);
  const Argument to = arguments.add_option("--to", options->to, "The format, see below").required();
  choose_from(to, {"lseq", "lseqj", "latseq-json", "latseq-csv"});
  arguments
      .add_option("--what", options->what,
                  "Which part of it. latseq-json has journeys (default), points, paths, stats; "
                  "latseq-csv has durations (default), matrix")
      .type_name("PART");
  choose_from(arguments.add_option("--compat", options->compat,
                                   "Rebuild journeys as LatSeq's own rebuilder does"),
              {"latseq"});
  options->rules.define(arguments);
  options->where.define(arguments,
                        "Only journeys (with lseq: events) for which this is true, e.g. 'rnti == "
                        "0x4601' (docs/filters.md)");
  arguments
      .add_option("-o,--output", options->output,
                  "The file to write: it appears once it is complete. Standard output by default, "
                  "and with -")
      .type_name("FILE");
  arguments.when_parsed([options] { check(*options); });
  arguments.footer(
      "lseq          a LatSeq recording: one event a line, times since 1970\n"
      "lseqj         the events of complete journeys with the journeys' numbers, for lseqj2any\n"
      "latseq-json   what latseq_logs -j, -p, -r and latseq_stats -sj print\n"
      "latseq-csv    the table of durations (latseq_stats -djd -f csv), or the matrix of each path "
      "(latseq_logs -M)\n"
      "\n"
      "docs/latseq.md says what each holds. A packet that was segmented is one journey for each "
      "segment.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
