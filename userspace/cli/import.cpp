// `sojourn import`: another tracer's recording as a trace, for every command that reads one.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/latseq/importer.h"
#include "analysis/oai_t/importer.h"
#include "userspace/cli/command.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output;
  std::string from = "latseq";
  bool json = false;
};

// "runs/x.lseq.gz" becomes "runs/x.sjt".
std::string trace_name(const std::string& input) {
  std::filesystem::path path(input);
  if (path.extension() == ".gz") path.replace_extension();
  return path.replace_extension(".sjt").string();
}

Result<void> check_output(const Options& options) {
  for (const std::string& input : options.files) {
    std::error_code error;
    if (std::filesystem::equivalent(input, options.output, error))
      return fail("write {}: it is the file to import", options.output);
  }
  return {};
}

void tell_clock(const latseq::FileSummary& file) {
  if (file.cycle_stamps == 0) return;
  tell("  {} by the cycle counter, read by {}", counted(file.cycle_stamps, "time"),
       counted(file.clock_lines, "clock line"));
  if (file.before_clock != 0) tell("; {} before the first", grouped(file.before_clock));
  if (file.after_clock != 0) tell("; {} after the last", grouped(file.after_clock));
  tell("{}\n", file.before_clock + file.after_clock != 0 ? ": by the nearest two" : "");
}

void tell_file(const latseq::FileSummary& file) {
  tell("{}   {}: {} over {:.3f} s, {} skipped\n", file.path, counted(file.lines, "line"),
       counted(file.events, "event"), static_cast<double>(file.last_ns - file.first_ns) / 1e9,
       grouped(file.skipped_lines()));
  for (std::size_t i = 0; i < latseq::kSkips; ++i)
    if (const auto& [count, first_line] = file.skipped[i]; count != 0)
      tell("  skipped {}: {}, first in line {}\n", grouped(count),
           latseq::words(static_cast<latseq::Skip>(i)), grouped(first_line));
  if (file.fields_left_out.count != 0)
    tell("  {} left out of events: no name, no number or too many, first in line {}\n",
         counted(file.fields_left_out.count, "field"), grouped(file.fields_left_out.first_line));
  if (file.disordered != 0)
    tell("  {} behind a later one: put in order of time\n", counted(file.disordered, "event"));
  tell_clock(file);
  if (!file.failure.empty())
    tell("  reading ended early: {}: what came before is in the trace\n", file.failure);
}

void print_json(const latseq::Summary& summary, const std::string& output, std::uint64_t bytes) {
  using nlohmann::json;
  json files = json::array();
  for (const latseq::FileSummary& file : summary.files) {
    json skipped = json::object();
    for (std::size_t i = 0; i < latseq::kSkips; ++i)
      if (const auto& [count, first_line] = file.skipped[i]; count != 0)
        skipped[latseq::key(static_cast<latseq::Skip>(i))] = {
            {"count", count},
            {"first_line", first_line},
            {"why", latseq::words(static_cast<latseq::Skip>(i))}};
    files.push_back({{"file", file.path},
                     {"lines", file.lines},
                     {"events", file.events},
                     {"headers", file.headers},
                     {"blank", file.blank},
                     {"clock_lines", file.clock_lines},
                     {"skipped", std::move(skipped)},
                     {"fields_left_out", file.fields_left_out.count},
                     {"cycle_stamps", file.cycle_stamps},
                     {"before_clock", file.before_clock},
                     {"after_clock", file.after_clock},
                     {"disordered", file.disordered},
                     {"first_ns", file.first_ns},
                     {"last_ns", file.last_ns},
                     {"failure", file.failure}});
  }
  const json all = {{"trace", output},
                    {"bytes", bytes},
                    {"events", summary.events()},
                    {"points", summary.points},
                    {"files", std::move(files)}};
  fmt::print("{}\n", all.dump(-1, ' ', true, json::error_handler_t::replace));
}

void tell_file(const oai_t::FileSummary& file) {
  tell("{}   {}: {} over {:.3f} s, {} skipped\n", file.path, counted(file.records, "record"),
       counted(file.events, "event"), static_cast<double>(file.last_ns - file.first_ns) / 1e9,
       grouped(file.unlisted + file.malformed));
  if (file.unlisted != 0)
    tell("  skipped {}: of no message of the recording's list\n", grouped(file.unlisted));
  if (file.malformed != 0)
    tell("  skipped {}: they do not hold what the list says\n", grouped(file.malformed));
  if (file.disordered != 0)
    tell("  {} behind a later one: put in order of time\n", counted(file.disordered, "event"));
  if (!file.failure.empty())
    tell("  reading ended early: {}: what came before is in the trace\n", file.failure);
}

void print_json(const oai_t::Summary& summary, const std::string& output, std::uint64_t bytes) {
  using nlohmann::json;
  json files = json::array();
  for (const oai_t::FileSummary& file : summary.files)
    files.push_back({{"file", file.path},
                     {"records", file.records},
                     {"events", file.events},
                     {"list_records", file.list_records},
                     {"skipped", {{"unlisted", file.unlisted}, {"malformed", file.malformed}}},
                     {"disordered", file.disordered},
                     {"first_ns", file.first_ns},
                     {"last_ns", file.last_ns},
                     {"failure", file.failure}});
  const json all = {{"trace", output},
                    {"bytes", bytes},
                    {"events", summary.events()},
                    {"points", summary.points},
                    {"files", std::move(files)}};
  fmt::print("{}\n", all.dump(-1, ' ', true, json::error_handler_t::replace));
}

// `import_files` is that of the files' format.
template <typename Import>
Result<void> run(const Options& options, Import import_files) {
  SJ_CHECK(check_output(options));
  SJ_TRY(writer, trace::Writer::create(options.output));
  ProgressLine line("bytes");
  const auto imported = import_files(
      options.files, writer, [&](std::uint64_t done, std::uint64_t of) { line.update(done, of); });
  line.clear();
  if (!imported) {
    writer.abandon();
    return std::unexpected(imported.error());
  }
  SJ_CHECK(writer.finish());
  if (options.json) {
    print_json(*imported, options.output, writer.bytes());
    return {};
  }
  for (const auto& file : imported->files) tell_file(file);
  tell("{}   {}, {} of {}\nnext: sojourn report {}\n", options.output, bytes(writer.bytes()),
       counted(imported->events(), "event"), counted(imported->points, "point"), options.output);
  return {};
}

}  // namespace

Action define_import(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("files", options->files,
                 "the recordings, e.g. run.lseq (gzipped ones too), record.raw. Each becomes one "
                 "stream")
      ->required();
  app.add_option("-o,--output", options->output,
                 "the trace to write; without: the first file's name with .sjt");
  app.add_option("--from", options->from,
                 "which tracer wrote them: latseq, or t, OpenAirInterface's T tracer")
      ->check(CLI::IsMember({"latseq", "t"}))
      ->capture_default_str();
  app.add_flag("--json", options->json, "what was read and what was skipped, as one JSON object");
  app.footer(
      "latseq: raw files, whose cycle counts are read by their clock lines, and converted ones.\n"
      "t: record.raw, as `record -o` wrote it. Its messages are scalars, beside other points.\n"
      "What is no event is skipped and told, by reason; docs/latseq.md and docs/oai-t.md have "
      "them.\n"
      "--json: {\"trace\", \"bytes\", \"events\", \"points\", \"files\": [{\"file\", \"lines\",\n"
      "\"events\", \"headers\", \"blank\", \"clock_lines\", \"skipped\": {reason: {\"count\",\n"
      "\"first_line\", \"why\"}}, \"fields_left_out\", \"cycle_stamps\", \"before_clock\",\n"
      "\"after_clock\", \"disordered\", \"first_ns\", \"last_ns\", \"failure\"}]}");
  return [options] {
    if (options->output.empty()) options->output = trace_name(options->files.front());
    return options->from == "t" ? run(*options, oai_t::import_files)
                                : run(*options, latseq::import_files);
  };
}

}  // namespace sojourn::cli
